import * as z from 'zod';
import type { JsonObject } from '../json.ts';
import { A2AError } from './a2a-error.ts';
import type { Dialect } from './dialect.ts';
import {
  readParams,
  refuseFiles,
  refusePushConfig,
  requireOutputMode,
  requireSmallMessage,
  sendParamsOf,
  skillNamedIn,
} from './read-params.ts';
import { isTerminal, type Part } from './task.ts';
import { createTaskWriter } from './task-writer.ts';

const data = z.record(z.string(), z.json());
const part = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('text'), text: z.string() }),
  z.looseObject({ kind: z.literal('data'), data }),
  z.looseObject({ kind: z.literal('file') }),
]);
const sendParams = sendParamsOf(part, 'user', {
  blocking: z.boolean().optional(),
  pushNotificationConfig: z.unknown().optional(),
});

const toPart = (sent: z.infer<typeof part>): Part => {
  if (sent.kind === 'file') return refuseFiles();
  return sent.kind === 'text' ? { kind: 'text', text: sent.text } : { kind: 'data', data: sent.data as JsonObject };
};

const write = createTaskWriter({
  state: (state) => state,
  role: (role) => role,
  part: (written) => ({ ...written }),
  marks: { message: { kind: 'message' }, task: { kind: 'task' } },
});

/** Revision 0.3 of the protocol. https://a2a-protocol.org/v0.3.0/specification/ */
export const dialectV03: Dialect = {
  methods: {
    'message/send': 'send',
    'message/stream': 'stream',
    'tasks/get': 'get',
    'tasks/cancel': 'cancel',
    'tasks/resubscribe': 'resubscribe',
    'tasks/pushNotificationConfig/set': 'push-config',
    'tasks/pushNotificationConfig/get': 'push-config',
    'tasks/pushNotificationConfig/list': 'push-config',
    'tasks/pushNotificationConfig/delete': 'push-config',
    'agent/getAuthenticatedExtendedCard': 'extended-card',
  },
  readSend(params) {
    requireSmallMessage(params);
    const { message, configuration, metadata: named } = readParams(sendParams, params);
    requireOutputMode(configuration?.acceptedOutputModes);
    refusePushConfig(configuration?.pushNotificationConfig);
    const { messageId, taskId, contextId, metadata: own, parts } = message;
    return {
      message: { messageId, taskId, contextId, parts: parts.map(toPart) },
      skill: skillNamedIn(own, named),
      waits: configuration?.blocking !== false,
      historyLength: configuration?.historyLength,
    };
  },
  readList(): never {
    throw new A2AError('METHOD_NOT_FOUND', 'This revision of the protocol lists no tasks');
  },
  task: write.task,
  sent: write.task,
  event(event) {
    const { task } = event;
    const about = { taskId: task.id, contextId: task.contextId };
    switch (event.kind) {
      case 'task':
        return write.task(task);
      case 'status':
        return {
          kind: 'status-update',
          ...about,
          status: write.status(task),
          final: isTerminal(task.state) || task.state === 'input-required',
        };
      case 'artifact':
        return { kind: 'artifact-update', ...about, artifact: write.artifact(event.artifact), append: false, lastChunk: true };
    }
  },
  errorDetails: () => ({}),
  resubscribesToFinished: true,
};
