import type { JsonObject } from '../../src/json.ts';
import { codeFor } from './code-for.ts';
import { readDirectives } from './directives.ts';
import { inputFor } from './input-for.ts';
import { summarizeResults } from './summarize-results.ts';

export interface OfferedTool {
  name: string;
  /** JSON Schema. */
  parameters: JsonObject;
}

/** What the model sees, whatever the wire format. */
export interface Turn {
  userText: string;
  tools: readonly OfferedTool[];
  /** `none` forbids calls, `required` demands one, a name demands that one. */
  toolChoice: 'auto' | 'none' | 'required' | { name: string };
  /** Results since the user spoke, in order, and how many replies with calls they belong to. */
  results: readonly ToolResult[];
  rounds: number;
}

export interface ToolResult {
  /** As the tool was called. */
  name: string;
  text: string;
}

/** A call's arguments are text, since a model may write what is no JSON. */
export interface ScriptedCall {
  name: string;
  arguments: string;
}

/** What the model says and calls. With calls it waits for their results, without it is done. */
export interface Reply {
  text: string;
  calls: ScriptedCall[];
}

/** The skill's name within a tool's name: `eval_code` of `eval_code_v1_0_0`. */
export const baseName = (toolName: string): string => toolName.replace(/_v\d+_\d+_\d+$/, '');

const findTool = (tools: readonly OfferedTool[], wanted: string): OfferedTool | undefined =>
  tools.find((tool) => tool.name === wanted) ?? tools.find((tool) => baseName(tool.name) === wanted);

/**
 * Decides on the next reply, always the same for the same turn: directives in the user's text come first, then a demanded tool,
 * then code or sums that a tool can run; when results are there they are told.
 */
export function decide(turn: Turn): Reply {
  const steps = readDirectives(turn.userText);
  if (steps.length > 0) return followDirectives(turn, steps[turn.rounds]);
  if (turn.results.length > 0) return say(summarizeResults(turn.results));
  return callDemanded(turn) ?? callEvalCode(turn) ?? say(introduce(turn));
}

const say = (text: string): Reply => ({ text, calls: [] });

function followDirectives(turn: Turn, step: ReturnType<typeof readDirectives>[number] | undefined): Reply {
  if (step === undefined || (turn.toolChoice === 'none' && step.calls.length > 0)) {
    return say(turn.results.length > 0 ? summarizeResults(turn.results) : 'I may not call any tool.');
  }
  const calls: ScriptedCall[] = [];
  for (const call of step.calls) {
    const tool = findTool(turn.tools, call.name);
    if (tool === undefined && !call.name.includes('@')) {
      const offered = turn.tools.map(({ name }) => name).join(', ');
      return say(`I was not offered a tool named ${call.name}, only: ${offered === '' ? 'none' : offered}.`);
    }
    calls.push({ name: tool?.name ?? call.name, arguments: call.arguments });
  }
  const text = step.text === '' && calls.length === 0 ? summarizeResults(turn.results) : step.text;
  return { text, calls };
}

function callDemanded({ tools, toolChoice, userText }: Turn): Reply | undefined {
  if (toolChoice === 'auto' || toolChoice === 'none') return undefined;
  const tool = toolChoice === 'required' ? tools[0] : findTool(tools, toolChoice.name);
  if (tool === undefined) return undefined;
  const input =
    baseName(tool.name) === 'eval_code' ? (codeFor(userText) ?? inputFor(tool.parameters, userText)) : inputFor(tool.parameters, userText);
  return { text: '', calls: [{ name: tool.name, arguments: JSON.stringify(input) }] };
}

function callEvalCode({ tools, toolChoice, userText }: Turn): Reply | undefined {
  const tool = findTool(tools, 'eval_code');
  const input = codeFor(userText);
  if (tool === undefined || input === undefined || toolChoice === 'none') return undefined;
  return { text: 'Let me run that. ', calls: [{ name: tool.name, arguments: JSON.stringify(input) }] };
}

function introduce({ userText, tools }: Turn): string {
  const offered = tools.length === 0 ? 'no tools' : `the tools ${tools.map(({ name }) => name).join(', ')}`;
  return `I am a scripted model for development and was offered ${offered}. You said: ${userText.trim()}`;
}
