import * as z from 'zod';
import type { JsonObject } from '../json.ts';
import type { Dialect } from './dialect.ts';
import {
  historyLength,
  optionalIdentifier,
  readParams,
  refuseFiles,
  refusePushConfig,
  requireOutputMode,
  requireSmallMessage,
  sendParamsOf,
  skillNamedIn,
} from './read-params.ts';
import { type Part, TASK_STATES, type TaskState } from './task.ts';
import { createTaskWriter } from './task-writer.ts';

const part = z
  .looseObject({ text: z.string().optional(), data: z.json().optional(), raw: z.unknown().optional(), url: z.unknown().optional() })
  .refine((sent) => [sent.text, sent.data, sent.raw, sent.url].filter((content) => content !== undefined).length === 1, {
    error: 'A part has one of text, data, raw and url',
  })
  .refine(({ data }) => data === undefined || (typeof data === 'object' && data !== null && !Array.isArray(data)), {
    error: 'This agent takes objects as data',
  });
const sendParams = sendParamsOf(part, 'ROLE_USER', {
  returnImmediately: z.boolean().optional(),
  taskPushNotificationConfig: z.unknown().optional(),
});

/** `TASK_STATE_INPUT_REQUIRED`. */
const writeState = (state: TaskState): string => `TASK_STATE_${state.toUpperCase().replace('-', '_')}`;
const STATES = new Map(TASK_STATES.map((state) => [writeState(state), state]));

const listParams = z.looseObject({
  contextId: optionalIdentifier,
  status: z
    .string()
    .refine((name) => STATES.has(name) || name === 'TASK_STATE_UNSPECIFIED', 'No such state of tasks of this agent')
    .optional(),
  pageSize: z.int().min(1).max(100).default(50),
  pageToken: z.string().max(500).optional(),
  historyLength,
  statusTimestampAfter: z.iso.datetime({ offset: true }).optional(),
  includeArtifacts: z.boolean().default(false),
});

const toPart = (sent: z.infer<typeof part>): Part => {
  if (sent.text !== undefined) return { kind: 'text', text: sent.text };
  return sent.data === undefined ? refuseFiles() : { kind: 'data', data: sent.data as JsonObject };
};

const write = createTaskWriter({
  state: writeState,
  role: (role) => (role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT'),
  part: (written) =>
    written.kind === 'text' ? { text: written.text, mediaType: 'text/plain' } : { data: written.data, mediaType: 'application/json' },
  marks: { message: {}, task: {} },
});

/** Revision 1.0 of the protocol. https://a2a-protocol.org/v1.0.0/specification/ */
export const dialectV10: Dialect = {
  methods: {
    SendMessage: 'send',
    SendStreamingMessage: 'stream',
    GetTask: 'get',
    CancelTask: 'cancel',
    SubscribeToTask: 'resubscribe',
    ListTasks: 'list',
    CreateTaskPushNotificationConfig: 'push-config',
    GetTaskPushNotificationConfig: 'push-config',
    ListTaskPushNotificationConfigs: 'push-config',
    DeleteTaskPushNotificationConfig: 'push-config',
    GetExtendedAgentCard: 'extended-card',
  },
  readSend(params) {
    requireSmallMessage(params);
    const { message, configuration, metadata: named } = readParams(sendParams, params);
    requireOutputMode(configuration?.acceptedOutputModes);
    refusePushConfig(configuration?.taskPushNotificationConfig);
    const { messageId, taskId, contextId, metadata: own, parts } = message;
    return {
      message: { messageId, taskId, contextId, parts: parts.map(toPart) },
      skill: skillNamedIn(own, named),
      waits: configuration?.returnImmediately !== true,
      historyLength: configuration?.historyLength,
    };
  },
  readList(params) {
    const read = readParams(listParams, params);
    const { contextId, status, statusTimestampAfter, pageToken, pageSize, historyLength, includeArtifacts } = read;
    const changedAfter = statusTimestampAfter === undefined ? undefined : new Date(statusTimestampAfter).toISOString();
    const filter = { contextId, state: STATES.get(status ?? ''), changedAfter };
    return { ...filter, pageSize, pageToken: pageToken || undefined, historyLength, includeArtifacts };
  },
  task: write.task,
  sent: (task) => ({ task: write.task(task) }),
  event(event) {
    const { task } = event;
    const about = { taskId: task.id, contextId: task.contextId };
    switch (event.kind) {
      case 'task':
        return { task: write.task(task) };
      case 'status':
        return { statusUpdate: { ...about, status: write.status(task) } };
      case 'artifact':
        return { artifactUpdate: { ...about, artifact: write.artifact(event.artifact), append: false, lastChunk: true } };
    }
  },
  errorDetails: ({ reason }) => ({
    data: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }],
  }),
  resubscribesToFinished: false,
};
