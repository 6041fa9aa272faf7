import type { JsonObject } from '../json.ts';

export const TASK_STATES = ['submitted', 'working', 'input-required', 'completed', 'failed', 'canceled'] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** What each state may become; the table refuses everything else, too. */
const NEXT_STATES: Readonly<Record<TaskState, readonly TaskState[]>> = {
  submitted: ['working', 'failed', 'canceled'],
  working: ['input-required', 'completed', 'failed', 'canceled'],
  // An answer to what was asked for submits the task once more.
  'input-required': ['submitted', 'failed', 'canceled'],
  completed: [],
  failed: [],
  canceled: [],
};

export const mayBecome = (from: TaskState, to: TaskState): boolean => NEXT_STATES[from].includes(to);
export const isTerminal = (state: TaskState): boolean => NEXT_STATES[state].length === 0;
/** Whether an isolate is at work on it, or about to be. */
export const isUnderWay = (state: TaskState): boolean => state === 'submitted' || state === 'working';

/** Text or data; this agent neither takes nor makes files. */
export type Part = { kind: 'text'; text: string } | { kind: 'data'; data: JsonObject };

export interface Message {
  messageId: string;
  role: 'user' | 'agent';
  parts: Part[];
}

export interface Artifact {
  artifactId: string;
  name: string;
  parts: Part[];
}

/** What a task holds besides what is asked for by. */
export interface TaskContent {
  /** The agent's skill that does it. */
  skill: string;
  /** The input so far, which an answer to `input-required` adds to. */
  input: JsonObject;
  /** What there is to say of the state. */
  statusText?: string;
  /** The newest messages, oldest first. */
  history: Message[];
  artifacts: Artifact[];
}

export interface Task extends TaskContent {
  id: string;
  contextId: string;
  state: TaskState;
  /** ISO 8601 UTC, of the last change of state. */
  updatedAt: string;
}

/** Messages that a task keeps. */
const MAX_HISTORY = 20;

export const withMessage = (history: readonly Message[], message: Message): Message[] => [...history, message].slice(-MAX_HISTORY);

/** One thing that happens to a task. */
export type TaskEvent =
  | { kind: 'task'; task: Task }
  | { kind: 'status'; task: Task }
  | { kind: 'artifact'; task: Task; artifact: Artifact };
