import { AppError } from '../errors.ts';
import { describeUnexpected } from '../execution/describe-unexpected.ts';
import type { JsonObject } from '../json.ts';
import type { Logger } from '../logger.ts';
import { A2AError } from './a2a-error.ts';
import type { A2ASkill, A2ASkillContext, A2ASkillRegistry } from './a2a-skill.ts';
import type { SendRequest } from './dialect.ts';
import { readInput } from './read-input.ts';
import { MAX_MESSAGE_CHARS } from './read-params.ts';
import { type Artifact, isTerminal, type Message, mayBecome, type Task, type TaskEvent, withMessage } from './task.ts';
import type { TaskStore } from './task-store.ts';

/** Who asks. */
export type Caller = Pick<A2ASkillContext, 'apiKeyId' | 'remembersOutcomes'>;

/** A task that is stored and begins when `run` is called, once. */
export interface SubmittedTask {
  task: Task;
  /** Resolves with the task as it is when there is nothing left to do for now; rejects when the database cannot be used. */
  run(emit: (event: TaskEvent) => void): Promise<Task>;
}

export interface Agent {
  /** Stores what is asked as a new task, or submits one that waits for input once more. Rejects with an A2AError. */
  submit(request: SendRequest, caller: Caller): Promise<SubmittedTask>;
  /** Rejects with an A2AError when the caller has no such task. */
  get(id: string, caller: Caller): Promise<Task>;
  /** The canceled task. Rejects with an A2AError when it is over already. */
  cancel(id: string, caller: Caller): Promise<Task>;
}

export interface AgentDependencies {
  tasks: TaskStore;
  skills: A2ASkillRegistry;
  contextFor(caller: Caller): A2ASkillContext;
  now: () => Date;
  newId: () => string;
  log: Logger;
}

/** Longest run of a skill; an isolate that takes longer counts as dead soon after. */
const SKILL_TIMEOUT_MS = 30_000;

async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new A2AError('INTERNAL_ERROR', `It was not done within ${SKILL_TIMEOUT_MS} ms`)), SKILL_TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The agent: it takes messages, does what they ask by its skills, and keeps the tasks. */
export function createAgent({ tasks, skills, contextFor, now, newId, log }: AgentDependencies): Agent {
  const moved = (task: Task, changes: Partial<Task>): Task => {
    const { statusText: _, ...rest } = task;
    return { ...rest, ...changes, updatedAt: now().toISOString() };
  };

  async function get(id: string, { apiKeyId }: Caller): Promise<Task> {
    const task = await tasks.get(id, apiKeyId);
    if (task === undefined) throw new A2AError('TASK_NOT_FOUND', `Task not found: ${id}`);
    return task;
  }

  function requireSkill(name: string | undefined): A2ASkill {
    const skill = name === undefined ? skills.list()[0] : skills.get(name);
    if (skill) return skill;
    const known = skills.list().map(({ id }) => id);
    throw new A2AError('INVALID_PARAMS', `No skill ${name ?? ''} here: there are ${known.join(', ')}`);
  }

  /** Stores a task in which the message stands. */
  async function store(request: SendRequest, message: Message, caller: Caller): Promise<Task> {
    const { taskId, contextId } = request.message;
    if (taskId === undefined) {
      const { skill: name, fields } = readInput(request, skills);
      const skill = requireSkill(name);
      const task: Task = {
        id: newId(),
        contextId: contextId ?? newId(),
        state: 'submitted',
        skill: skill.id,
        input: fields(skill),
        history: [message],
        artifacts: [],
        updatedAt: now().toISOString(),
      };
      requireUsable(skill, task.input);
      await tasks.create(task, caller.apiKeyId);
      return task;
    }
    const waiting = await get(taskId, caller);
    if (!mayBecome(waiting.state, 'submitted'))
      throw new A2AError('UNSUPPORTED_OPERATION', `Task ${taskId} is ${waiting.state} and takes no messages`);
    if (contextId !== undefined && contextId !== waiting.contextId)
      throw new A2AError('INVALID_PARAMS', `params.message.contextId: Task ${taskId} has another context`);
    const skill = requireSkill(waiting.skill);
    const input = { ...waiting.input, ...readInput(request, skills).fields(skill) };
    requireUsable(skill, input);
    const task = moved(waiting, { state: 'submitted', input, history: withMessage(waiting.history, message) });
    if (!(await tasks.move(task, waiting.state, caller.apiKeyId)))
      throw new A2AError('UNSUPPORTED_OPERATION', `Task ${taskId} has changed meanwhile`);
    return task;
  }

  const isAskedFor = ({ textField }: A2ASkill, input: JsonObject): boolean =>
    textField !== undefined && (input[textField] === undefined || String(input[textField]).trim() === '');

  /** Input that is there and wrong is refused; what is missing is asked for when the task runs. */
  function requireUsable(skill: A2ASkill, input: JsonObject): void {
    // Every message may add to it.
    if (JSON.stringify(input).length > MAX_MESSAGE_CHARS)
      throw new A2AError('INVALID_PARAMS', `${skill.id}: The input exceeds the limit of ${MAX_MESSAGE_CHARS} characters`);
    const isAsked = isAskedFor(skill, input);
    const issue = skill.input.safeParse(input).error?.issues.find(({ path }) => !isAsked || path[0] !== skill.textField);
    if (issue === undefined) return;
    throw new A2AError('INVALID_PARAMS', `${[skill.id, ...issue.path].map(String).join('.')}: ${issue.message}`);
  }

  /** What the skill makes of the task: the changes that end it for now. */
  async function perform(task: Task, caller: Caller): Promise<Partial<Task>> {
    const skill = requireSkill(task.skill);
    if (isAskedFor(skill, task.input)) return { state: 'input-required', statusText: `${skill.textField}: say it as text, or as data` };
    try {
      const { text, data } = await inTime(skill.execute(skill.input.parse(task.input), contextFor(caller)));
      const artifact: Artifact = {
        artifactId: `${task.id}:result`,
        name: skill.id,
        parts: [
          { kind: 'text', text },
          { kind: 'data', data },
        ],
      };
      return { state: 'completed', statusText: text, artifacts: [artifact] };
    } catch (error) {
      const isKnown = error instanceof A2AError || error instanceof AppError;
      if (!isKnown) log.error('a2a.skill.failed', { skill: skill.id, ...describeUnexpected(error) });
      return { state: 'failed', statusText: isKnown ? error.message : 'The skill failed unexpectedly' };
    }
  }

  async function run(submitted: Task, caller: Caller, emit: (event: TaskEvent) => void): Promise<Task> {
    /** Moves the task on, unless it was canceled meanwhile. */
    const advance = async (task: Task, changes: Partial<Task>): Promise<{ task: Task; isOurs: boolean }> => {
      const next = moved(task, changes);
      const isOurs = await tasks.move(next, task.state, caller.apiKeyId);
      return { task: isOurs ? next : await get(task.id, caller), isOurs };
    };
    emit({ kind: 'task', task: submitted });
    let step = await advance(submitted, { state: 'working' });
    emit({ kind: 'status', task: step.task });
    if (!step.isOurs) return step.task;
    step = await advance(step.task, await perform(step.task, caller));
    if (step.isOurs) for (const artifact of step.task.artifacts) emit({ kind: 'artifact', task: step.task, artifact });
    emit({ kind: 'status', task: step.task });
    return step.task;
  }

  return {
    async submit(request, caller) {
      const { messageId, parts } = request.message;
      const task = await store(request, { messageId, role: 'user', parts }, caller);
      return { task, run: (emit) => run(task, caller, emit) };
    },
    get,
    async cancel(id, caller) {
      const task = await get(id, caller);
      const canceled = moved(task, { state: 'canceled' });
      const isDone = !isTerminal(task.state) && (await tasks.move(canceled, task.state, caller.apiKeyId));
      if (isDone) return canceled;
      const { state } = isTerminal(task.state) ? task : await get(id, caller);
      throw new A2AError('TASK_NOT_CANCELABLE', `Task not cancelable: ${id} is ${state}`);
    },
  };
}
