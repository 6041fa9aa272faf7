import type { JsonObject } from '../json.ts';
import type { ApprovalRequest, NativeApprovals } from './adapter.ts';
import { isReasoning } from './openai-responses-items.ts';
import { inputItemsOf } from './openai-responses-rounds.ts';

/** Tells our own from those of a provider, which start with `mcpr_` too. */
const ID_PREFIX = 'mcpr_omniroute_';

/** The item that asks a person. https://platform.openai.com/docs/guides/tools-connectors-mcp#approvals */
export const approvalItem = ({ approvalId, name, arguments: input }: ApprovalRequest): JsonObject => ({
  type: 'mcp_approval_request',
  id: `${ID_PREFIX}${approvalId}`,
  name,
  arguments: JSON.stringify(input),
  server_label: 'omniroute',
});

/** The approval that an item asks for or answers; undefined for all other items and those of a provider. */
function approvalIdOf(item: JsonObject): string | undefined {
  const id = item.type === 'mcp_approval_request' ? item.id : item.type === 'mcp_approval_response' ? item.approval_request_id : undefined;
  return typeof id === 'string' && id.startsWith(ID_PREFIX) ? id.slice(ID_PREFIX.length) : undefined;
}

export const nativeApprovals: NativeApprovals = {
  readAnswers(request) {
    const answers: ReturnType<NativeApprovals['readAnswers']> = new Map();
    for (const item of inputItemsOf(request)) {
      const id = approvalIdOf(item);
      if (id === undefined) continue;
      const isAnswer = item.type === 'mcp_approval_response';
      if (isAnswer) answers.set(id, { approve: item.approve === true, ...(typeof item.reason === 'string' && { reason: item.reason }) });
      else if (!answers.has(id)) answers.set(id, undefined);
    }
    return answers;
  },

  settle(request, results) {
    const items = inputItemsOf(request);
    // A call has its place where it was last spoken of: at its answer, if it has one.
    const places = new Map(items.map((item, position) => [approvalIdOf(item), position]));
    const input: JsonObject[] = [];
    for (const [position, item] of items.entries()) {
      const id = approvalIdOf(item);
      if (id === undefined) {
        input.push(item);
        continue;
      }
      // Reasoning may not be followed by another item than its own.
      while (isReasoning(input.at(-1))) input.pop();
      const result = places.get(id) === position ? results.get(id) : undefined;
      if (result === undefined) continue;
      const callId = `call_${id}`;
      const { name, arguments: asked, content } = result;
      input.push({ type: 'function_call', call_id: callId, name, arguments: JSON.stringify(asked) });
      input.push({ type: 'function_call_output', call_id: callId, output: content });
    }
    return { ...request, input };
  },
};
