import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { APPROVAL_STATUSES, type Approval } from '../execution/approval.ts';
import type { AppEnv } from './app-env.ts';
import { requireScope } from './auth.ts';
import { isManagement, ownerOf } from './principal.ts';
import { listBody, pageQuery } from './schemas.ts';
import { validateQuery } from './validate.ts';

export const listApprovalsQuery = z.strictObject({ ...pageQuery, status: z.enum(APPROVAL_STATUSES).optional() });

const toBody = ({ skillId: _, ...approval }: Approval) => approval;

/** Whose approvals the caller may see and decide; undefined: everybody's. */
const visibleOwner = (c: Context<AppEnv>): string | undefined => (isManagement(c.var.principal) ? undefined : ownerOf(c.var.principal));

async function decide(c: Context<AppEnv>, decision: 'approved' | 'denied') {
  const { approvals, now } = c.var.services;
  const approval = await approvals.decide(c.req.param('id') ?? '', decision, new Date(now()), visibleOwner(c));
  return c.json({ success: true, approval: toBody(approval) });
}

export const approvals = new Hono<AppEnv>()
  .get('/', requireScope('read:skills'), validateQuery(listApprovalsQuery), async (c) => {
    const { page, limit, status } = c.req.valid('query');
    const owner = visibleOwner(c);
    const filter = { ...(owner !== undefined && { apiKeyId: owner }), ...(status && { status }) };
    const { data, total } = await c.var.services.approvals.listPage(filter, page, limit);
    return c.json(listBody(data.map(toBody), total, { page, limit }));
  })
  .post('/:id/approve', requireScope('execute:skills'), (c) => decide(c, 'approved'))
  .post('/:id/deny', requireScope('execute:skills'), (c) => decide(c, 'denied'));
