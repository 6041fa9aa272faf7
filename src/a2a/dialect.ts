import type { JsonObject, JsonValue } from '../json.ts';
import type { A2AError } from './a2a-error.ts';
import type { Part, Task, TaskEvent } from './task.ts';

/** What a method does, whatever a revision of the protocol calls it. */
export const OPERATIONS = ['send', 'stream', 'get', 'cancel', 'resubscribe', 'list', 'push-config', 'extended-card'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** A message for the agent. */
export interface SendRequest {
  message: {
    messageId: string;
    parts: Part[];
    taskId: string | undefined;
    contextId: string | undefined;
  };
  /** The agent's skill that the message's or the request's metadata name. */
  skill: string | undefined;
  /** Whether the answer is the finished task. */
  waits: boolean;
  historyLength: number | undefined;
}

/** Which tasks are asked for. */
export interface ListRequest {
  contextId: string | undefined;
  state: Task['state'] | undefined;
  changedAfter: string | undefined;
  pageSize: number;
  pageToken: string | undefined;
  historyLength: number | undefined;
  includeArtifacts: boolean;
}

/** How one revision of the protocol writes what there is to say. What a reader cannot use it refuses with an A2AError. */
export interface Dialect {
  methods: Readonly<Record<string, Operation>>;
  readSend(params: JsonValue | undefined): SendRequest;
  readList(params: JsonValue | undefined): ListRequest;
  task(task: Task): JsonObject;
  /** What `send` answers. */
  sent(task: Task): JsonObject;
  event(event: TaskEvent): JsonObject;
  /** Members of an error beside its code and message. */
  errorDetails(error: A2AError): JsonObject;
  /** Whether somebody who resubscribes to a task that is over gets it, rather than an error. */
  resubscribesToFinished: boolean;
}
