import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { createMcpApp, type McpApp } from '../support/mcp-app.ts';
import { MCP_CLIENTS, type McpToolResult } from '../support/mcp-clients.ts';

let mcp: McpApp;
let runs = 0;
beforeAll(async () => {
  mcp = await createMcpApp();
  mcp.app.services.executor.registerHandler('count', async (input) => {
    runs += 1;
    return { ran: input };
  });
  const schema = { input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }, output: {} };
  const id = await mcp.install({ name: 'careful', handlerCode: 'count', schema });
  await mcp.app.call(`/api/skills/${id}`, { method: 'PUT', json: { policy: 'hybrid' } });
});
afterEach(() => mcp.closeClients());
afterAll(() => mcp.app.close());

let next = 0;
/** A call of its own each time, since the same is the same to an approval. */
const newCall = () => ({ skillName: 'careful', input: { n: ++next } });
const textOf = ({ content }: McpToolResult) => JSON.parse(content[0]?.text as string) as JsonObject;
const approvals = async () => (await mcp.app.call('/api/skills/approvals')).body.data as JsonObject[];
const decide = (id: unknown, decision: string) => mcp.app.call(`/api/skills/approvals/${id}/${decision}`, { method: 'POST' });

describe.each(MCP_CLIENTS)('with the client %s, a call of a hybrid skill', (kind) => {
  it('asks the person, showing what would run, and runs once when they accept', async () => {
    const before = runs;
    const asked: string[] = [];
    const client = await mcp.connect(kind, {
      elicit(message) {
        asked.push(message);
        expect(runs).toBe(before);
        return 'accept';
      },
    });
    await client.listTools();
    const call = newCall();
    const result = await client.call('omniroute_skills_execute', call);
    expect(result).toMatchObject({ isError: false, structuredContent: { execution: { status: 'success', output: { ran: call.input } } } });
    expect(runs).toBe(before + 1);
    expect(asked).toEqual([`Run the skill careful@1.0.0 with this input?\n\n{\n  "n": ${call.input.n}\n}`]);
    expect((await approvals())[0]).toMatchObject({ status: 'used', apiKeyId: mcp.app.key.id, input: call.input });
  });

  it.each(['decline', 'cancel'] as const)('runs nothing when they %s, and says so', async (action) => {
    const before = runs;
    const client = await mcp.connect(kind, { elicit: () => action });
    await client.listTools();
    const result = await client.call('omniroute_skills_execute', newCall());
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { execution: { status: 'error', errorMessage: 'The user declined' } },
    });
    expect(textOf(result)).toEqual({ success: false, error: 'The user declined' });
    expect(runs).toBe(before);
  });

  it('waits for an approval elsewhere when the client cannot ask, then runs once', async () => {
    const before = runs;
    const client = await mcp.connect(kind);
    await client.listTools();
    const call = newCall();
    const parked = await client.call('omniroute_skills_execute', call);
    const { id } = (await approvals())[0] as JsonObject;
    expect(parked).toMatchObject({ isError: true, structuredContent: { execution: { status: 'pending' }, approval: { id } } });
    expect(textOf(parked)).toMatchObject({ approvalRequired: true, approvalId: id, error: expect.stringContaining('was NOT run') });
    const again = await client.call('omniroute_skills_execute', call);
    expect(again.structuredContent.approval).toEqual(parked.structuredContent.approval);
    expect(runs).toBe(before);
    await decide(id, 'approve');
    const result = await client.call('omniroute_skills_execute', call);
    expect(result).toMatchObject({ isError: false, structuredContent: { execution: { status: 'success' } } });
    expect(runs).toBe(before + 1);
    const third = await client.call('omniroute_skills_execute', call);
    expect(third.structuredContent.approval).toMatchObject({ id: expect.not.stringMatching(String(id)) });
  });

  it('reads that it was declined elsewhere', async () => {
    const client = await mcp.connect(kind);
    const call = newCall();
    await client.call('omniroute_skills_execute', call);
    await decide((await approvals())[0]?.id, 'deny');
    expect(textOf(await client.call('omniroute_skills_execute', call))).toEqual({ success: false, error: 'The user declined' });
  });

  it('shows the start of a long input, and how much is missing', async () => {
    const asked: string[] = [];
    const client = await mcp.connect(kind, {
      elicit(message) {
        asked.push(message);
        return 'decline';
      },
    });
    const input = { n: ++next, text: `${'x'.repeat(9_000)}END` };
    await client.call('omniroute_skills_execute', { skillName: 'careful', input });
    const hidden = JSON.stringify(input, undefined, 2).length - 8_000;
    expect(asked[0]).toMatch(new RegExp(`x… \\(${hidden} more characters\\)$`));
    expect(asked[0]).not.toContain('END');
  });

  it('does not ask about what cannot run', async () => {
    const elicit = vi.fn(() => 'accept' as const);
    const client = await mcp.connect(kind, { elicit });
    const result = await client.call('omniroute_skills_execute', { skillName: 'careful', input: { n: 'x' } });
    expect(textOf(result)).toMatchObject({ code: 'invalid_request', error: expect.stringContaining('n') });
    expect(elicit).not.toHaveBeenCalled();
  });
});

describe('a question within a stream', () => {
  const session = { 'mcp-session-id': `${crypto.randomUUID()}-elicitation` };
  const headers = { accept: 'application/json, text/event-stream', ...session };

  /** Sends a call that is to be asked about; its stream, and the id of the question. */
  async function ask(id = 1) {
    const message = { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'omniroute_skills_execute', arguments: newCall() } };
    const response = await mcp.app.request('/mcp', { as: mcp.app.key.key, json: message, headers });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const readUntil = async (part: string) => {
      while (!text.includes(part)) {
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error(`The stream ended without ${part}: ${text}`);
        text += value;
      }
      return text;
    };
    const question = JSON.parse(/data: (.*)\n/.exec(await readUntil('elicitation/create'))?.[1] ?? '') as JsonObject;
    return { question, readUntil, cancel: () => reader?.cancel() };
  }

  it('names the approval, so that its answer may come to any isolate, and let it be decided elsewhere', async () => {
    const { question, readUntil } = await ask();
    const [{ id } = {}] = await approvals();
    expect(question).toMatchObject({
      id: `approval:${id}`,
      params: { message: expect.any(String), requestedSchema: { type: 'object', properties: {} } },
    });
    await decide(id, 'approve');
    expect(await readUntil('"status":"success"')).toContain('"ran"');
  });

  it('is not answered by another key, nor by a key that may not run skills', async () => {
    const before = runs;
    const { question, readUntil } = await ask();
    const answer = { jsonrpc: '2.0', id: question.id as string, result: { action: 'accept', content: {} } };
    const other = await mcp.app.createKey();
    expect((await mcp.post(answer, { as: other.key })).body?.error).toMatchObject({ code: -32600 });
    expect((await approvals())[0]).toMatchObject({ status: 'pending' });
    expect((await mcp.post(answer)).status).toBe(202);
    await readUntil('"status":"success"');
    expect(runs).toBe(before + 1);
    expect((await mcp.post(answer)).body?.error).toMatchObject({ data: { code: 'conflict' } });
  });

  it('is declined by an error of the client', async () => {
    const { question, readUntil } = await ask();
    const answer = { jsonrpc: '2.0', id: question.id as string, error: { code: -32603, message: 'No window' } };
    expect((await mcp.post(answer)).status).toBe(202);
    expect(await readUntil('"status":"error"')).toContain('The user declined');
  });

  it('is declined when the client cancels the call', async () => {
    const { readUntil } = await ask(9);
    await mcp.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } }, { headers: session });
    expect(await readUntil('"status":"error"')).toContain('The user declined');
  });

  it('is declined by a cancellation even when hundreds of calls wait beside it', async () => {
    const { readUntil } = await ask(10);
    const { approvals: store, executor, skills } = mcp.app.services;
    const skill = (await skills.listVisible(mcp.app.key.id)).find(({ name }) => name === 'careful');
    if (skill === undefined) throw new Error('The skill is missing');
    const parkOne = () => {
      const id = crypto.randomUUID();
      const context = {
        apiKeyId: mcp.app.key.id,
        sessionId: null,
        requestId: id,
        callId: id,
        logId: id,
        signal: AbortSignal.timeout(60_000),
      };
      return executor.park(skill, newCall().input, context);
    };
    const parked = await Promise.all(Array.from({ length: 201 }, parkOne));
    await mcp.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 10 } }, { headers: session });
    expect(await readUntil('"status":"error"')).toContain('The user declined');
    const last = parked[0]?.approvalId as string;
    expect((await store.get(last, mcp.app.key.id))?.status).toBe('pending');
  });

  it('may still be decided when the client has left, and then runs with the next call', async () => {
    const before = runs;
    const { cancel } = await ask();
    await cancel();
    const [approval] = await approvals();
    expect(approval).toMatchObject({ status: 'pending' });
    await decide(approval?.id, 'approve');
    const client = await mcp.connect('present');
    await client.call('omniroute_skills_execute', { skillName: 'careful', input: approval?.input as JsonObject });
    expect(runs).toBe(before + 1);
  });
});

describe('an answer that comes with the call', () => {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'omniroute_skills_execute' };
  async function send(call: JsonObject, answered: JsonObject = {}) {
    const params = { name: 'omniroute_skills_execute', arguments: call, _meta: envelope, ...answered };
    const { body } = await mcp.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { headers });
    return body?.result as JsonObject;
  }
  const accepted = (requestState: string) => ({ requestState, inputResponses: { approval: { action: 'accept', content: {} } } });

  it('lets exactly that call run, once', async () => {
    const before = runs;
    const call = newCall();
    const { resultType, requestState } = (await send(call)) as { resultType: string; requestState: string };
    expect(resultType).toBe('input_required');
    expect(await send(newCall(), accepted(requestState))).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('conflict') }],
    });
    expect(runs).toBe(before);
    expect(await send(call, accepted(requestState))).toMatchObject({ structuredContent: { execution: { status: 'success' } } });
    expect(await send(call, accepted(requestState))).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('already used') }],
    });
    expect(runs).toBe(before + 1);
  });

  it('cannot be made up, nor taken from another key', async () => {
    const before = runs;
    const call = newCall();
    expect(await send(call, accepted('made-up'))).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('not_found') }],
    });
    const other = await mcp.app.createKey();
    const params = { name: 'omniroute_skills_execute', arguments: call, _meta: envelope };
    const { body } = await mcp.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { headers, as: other.key });
    const { result } = body as { result: { requestState: string } };
    expect(await send(call, accepted(result.requestState))).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('not_found') }],
    });
    expect(runs).toBe(before);
  });

  it('counts for nothing without its state, or without being one', async () => {
    const call = newCall();
    await send(call);
    for (const answered of [
      { inputResponses: { approval: { action: 'accept' } } },
      { requestState: 'x', inputResponses: { approval: 5 } },
    ]) {
      expect(await send(call, answered)).toMatchObject({ resultType: 'input_required' });
    }
  });
});
