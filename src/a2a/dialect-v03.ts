import * as z from 'zod';
import type { JsonObject, JsonValue } from '../json.ts';
import { A2AError } from './a2a-error.ts';
import type { Dialect } from './dialect.ts';
import {
  historyLength,
  identifier,
  metadata,
  optionalIdentifier,
  partsOf,
  readParams,
  refuseFiles,
  refusePushConfig,
  requireOutputMode,
  requireSmallMessage,
} from './read-params.ts';
import { type Artifact, isTerminal, type Message, type Part, type Task } from './task.ts';

const data = z.record(z.string(), z.json());
const part = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('text'), text: z.string() }),
  z.looseObject({ kind: z.literal('data'), data }),
  z.looseObject({ kind: z.literal('file') }),
]);
const sendParams = z.looseObject({
  message: z.looseObject({
    messageId: identifier,
    role: z.literal('user'),
    parts: partsOf(part),
    taskId: optionalIdentifier,
    contextId: optionalIdentifier,
    metadata,
  }),
  configuration: z
    .looseObject({
      blocking: z.boolean().optional(),
      historyLength,
      acceptedOutputModes: z.array(z.string()).nullish(),
      pushNotificationConfig: z.unknown().optional(),
    })
    .nullish(),
  metadata,
});
const taskParams = z.looseObject({ id: identifier, historyLength });

const toPart = (sent: z.infer<typeof part>): Part => {
  if (sent.kind === 'file') return refuseFiles();
  return sent.kind === 'text' ? { kind: 'text', text: sent.text } : { kind: 'data', data: sent.data as JsonObject };
};

const writePart = (written: Part): JsonObject => ({ ...written });
const writeMessage = ({ messageId, role, parts }: Message, { id, contextId }: Task): JsonObject => ({
  kind: 'message',
  messageId,
  role,
  parts: parts.map(writePart),
  taskId: id,
  contextId,
});
const writeArtifact = ({ artifactId, name, parts }: Artifact): JsonObject => ({ artifactId, name, parts: parts.map(writePart) });

const writeStatus = (task: Task): JsonObject => ({
  state: task.state,
  timestamp: task.updatedAt,
  ...(task.statusText !== undefined && {
    message: writeMessage(
      { messageId: `${task.id}:${task.updatedAt}`, role: 'agent', parts: [{ kind: 'text', text: task.statusText }] },
      task,
    ),
  }),
});

const writeTask = (task: Task): JsonObject => ({
  kind: 'task',
  id: task.id,
  contextId: task.contextId,
  status: writeStatus(task),
  history: task.history.map((message) => writeMessage(message, task)),
  artifacts: task.artifacts.map(writeArtifact),
  metadata: { skill: task.skill },
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
      skill: own?.skill ?? own?.skillId ?? named?.skill ?? named?.skillId,
      waits: configuration?.blocking !== false,
      historyLength: configuration?.historyLength,
    };
  },
  readTaskId(params) {
    const { id, historyLength } = readParams(taskParams, params);
    return { id, historyLength };
  },
  readList(_params: JsonValue | undefined): never {
    throw new A2AError('METHOD_NOT_FOUND', 'This revision of the protocol lists no tasks');
  },
  task: writeTask,
  sent: writeTask,
  event(event) {
    const { task } = event;
    const about = { taskId: task.id, contextId: task.contextId };
    switch (event.kind) {
      case 'task':
        return writeTask(task);
      case 'status':
        return {
          kind: 'status-update',
          ...about,
          status: writeStatus(task),
          final: isTerminal(task.state) || task.state === 'input-required',
        };
      case 'artifact':
        return { kind: 'artifact-update', ...about, artifact: writeArtifact(event.artifact), append: false, lastChunk: true };
    }
  },
  errorDetails: () => ({}),
  resubscribesToFinished: true,
};
