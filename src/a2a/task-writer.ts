import type { JsonObject } from '../json.ts';
import type { Artifact, Message, Part, Task, TaskState } from './task.ts';

/** How a revision of the protocol spells what tasks are made of. */
interface Spelling {
  state(state: TaskState): string;
  role(role: Message['role']): string;
  part(part: Part): JsonObject;
  /** Members that say what an object is. */
  marks: { message: JsonObject; task: JsonObject };
}

export interface TaskWriter {
  task(task: Task): JsonObject;
  status(task: Task): JsonObject;
  artifact(artifact: Artifact): JsonObject;
}

export function createTaskWriter({ state, role, part, marks }: Spelling): TaskWriter {
  const writeMessage = (message: Message, { id, contextId }: Task): JsonObject => ({
    ...marks.message,
    messageId: message.messageId,
    role: role(message.role),
    parts: message.parts.map(part),
    taskId: id,
    contextId,
  });
  const writeArtifact = ({ artifactId, name, parts }: Artifact): JsonObject => ({ artifactId, name, parts: parts.map(part) });
  const writeStatus = (task: Task): JsonObject => ({
    state: state(task.state),
    timestamp: task.updatedAt,
    ...(task.statusText !== undefined && {
      message: writeMessage(
        { messageId: `${task.id}:${task.updatedAt}`, role: 'agent', parts: [{ kind: 'text', text: task.statusText }] },
        task,
      ),
    }),
  });
  return {
    status: writeStatus,
    artifact: writeArtifact,
    task: (task) => ({
      ...marks.task,
      id: task.id,
      contextId: task.contextId,
      status: writeStatus(task),
      history: task.history.map((message) => writeMessage(message, task)),
      artifacts: task.artifacts.map(writeArtifact),
      metadata: { skill: task.skill },
    }),
  };
}
