import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { APPROVAL_STATUSES, type Approval } from '../execution/approval.ts';
import type { AppEnv } from './app-env.ts';
import { requireScope } from './auth.ts';
import { describeRoute } from './describe-route.ts';
import { visibleOwner } from './principal.ts';
import { jsonValue, listBody, listSchema, pageQuery } from './schemas.ts';
import { validateQuery } from './validate.ts';

export const listApprovalsQuery = z.strictObject({ ...pageQuery, status: z.enum(APPROVAL_STATUSES).optional() });

const approvalBody = z
  .strictObject({
    id: z.string(),
    apiKeyId: z.string(),
    skillName: z.string(),
    skillVersion: z.string(),
    input: jsonValue,
    sessionId: z.string().nullable(),
    status: z.enum(APPROVAL_STATUSES),
    createdAt: z.string(),
    expiresAt: z.string(),
    executionId: z.string().nullable().meta({ description: 'The parked execution, which runs once the approval is used' }),
  } satisfies Record<keyof ReturnType<typeof toBody>, z.ZodType>)
  .meta({ id: 'Approval' });

const describeDecision = (summary: string) =>
  describeRoute({
    tag: 'Approvals',
    summary,
    answers: { 200: z.strictObject({ success: z.literal(true), approval: approvalBody }) },
    errors: ['not_found', 'conflict'],
  });

const describe = {
  list: describeRoute({ tag: 'Approvals', summary: 'Approvals, newest first', answers: { 200: listSchema(approvalBody) } }),
  approve: describeDecision('Let the next identical call run, once'),
  deny: describeDecision('Have the model told that the user declined'),
};

const toBody = ({ skillId: _, ...approval }: Approval) => approval;

async function decide(c: Context<AppEnv>, decision: 'approved' | 'denied') {
  const { approvals, now } = c.var.services;
  const approval = await approvals.decide(c.req.param('id') ?? '', decision, new Date(now()), visibleOwner(c.var.principal));
  return c.json({ success: true, approval: toBody(approval) });
}

export const approvals = new Hono<AppEnv>()
  .get('/', describe.list, requireScope('read:skills'), validateQuery(listApprovalsQuery), async (c) => {
    const { page, limit, status } = c.req.valid('query');
    const owner = visibleOwner(c.var.principal);
    const filter = { ...(owner !== undefined && { apiKeyId: owner }), ...(status && { status }) };
    const { data, total } = await c.var.services.approvals.listPage(filter, page, limit);
    return c.json(listBody(data.map(toBody), total, { page, limit }));
  })
  .post('/:id/approve', describe.approve, requireScope('execute:skills'), (c) => decide(c, 'approved'))
  .post('/:id/deny', describe.deny, requireScope('execute:skills'), (c) => decide(c, 'denied'));
