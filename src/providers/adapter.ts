import type { WireFormat } from '../env.ts';
import type { JsonObject, JsonValue } from '../json.ts';

/** The family whose hint tags (`gpt`, `claude`, …) fit a request of this format. */
export type ProviderHint = 'openai' | 'anthropic' | 'google';

/** A skill as the model sees it. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments, as the skill declares it; each format compiles its own dialect from it. */
  parameters: JsonObject;
}

/** The arguments of a call: what the model wrote, or why it could not be read. */
export type CallArguments = { readable: true; value: JsonObject } | { readable: false; error: string };

export interface ToolCall {
  id: string;
  name: string;
  arguments: CallArguments;
}

/** What the model is told of a call. `content` is JSON text. */
export interface ToolResult {
  callId: string;
  name: string;
  content: string;
  failed: boolean;
}

/** What the gateway needs to know of a request, whatever its format. */
export interface RequestFacts {
  model: string;
  stream: boolean;
  /** Text of the model's name, the system or developer instructions and every text part of every message. */
  texts: string[];
  systemText: string;
  userMessageCount: number;
  maxOutputTokens: number | undefined;
  clientToolNames: ReadonlySet<string>;
  clientToolCount: number;
  /** False when the client forbade tools or asked for several choices. */
  acceptsTools: boolean;
}

/** One reply of the model, read. */
export interface ModelTurn {
  calls: ToolCall[];
  /** True when the reply was cut or refused, so that its calls may be half received and must not run. */
  cut: boolean;
  /** True when the provider paused the reply and wants it back as it is to go on. */
  paused: boolean;
  usage: JsonObject | undefined;
}

/** One executed call as the client is told of it. */
export type ExecutionSummary = {
  id: string;
  /** `name@version`. */
  skill: string;
  status: string;
  durationMs: number | null;
};

/** What is added to a reply: `omniroute` in the bodies of formats that tolerate it. */
export interface ReplyReport {
  rounds: number;
  executions: ExecutionSummary[];
  usageByRound: (JsonObject | null)[];
}

/** A call that waits for a person. */
export interface ApprovalRequest {
  approvalId: string;
  /** The tool's name, as the model called it. */
  name: string;
  arguments: JsonObject;
}

/** What a client says of a call that waits for a person. */
export interface ApprovalAnswer {
  approve: boolean;
  reason?: string;
}

/** A format's own way to ask a person, and to be answered. */
export interface NativeApprovals {
  /** The approvals of ours that the history speaks of, with the answer to each, if there is one. */
  readAnswers(request: JsonObject): Map<string, ApprovalAnswer | undefined>;
  /** The history with each of those calls and its result, for a provider that knows nothing of the question. */
  settle(request: JsonObject, results: ReadonlyMap<string, ApprovalRequest & { content: string }>): JsonObject;
}

/** Everything that makes up the one answer that a client sees. */
export interface Reply {
  /** The replies of all rounds, in order; the last one is the answer. */
  responses: JsonObject[];
  report: ReplyReport;
  /** Results that are put into the reply itself (`inline`), else empty. */
  inlineResults: ToolResult[];
  /** Calls that now wait for a person, for formats that can ask. */
  approvalRequests?: readonly ApprovalRequest[];
}

/** How the calls of a reply look to the client. */
export interface CallVisibility {
  /** True for calls that the client never sees. */
  isHidden(toolName: string): boolean;
  /** The id under which the client sees one of its own calls. `afterHidden`: something hidden came before it. */
  clientCallId(id: string, afterHidden: boolean): string;
}

/** Hidden rounds and the results of a mixed turn, as they are stored until the client comes back with its own results. */
export type Transcript = JsonValue;

/** Relays the streams of all rounds as one life cycle. Texts that it returns are whole SSE frames, or empty. */
export interface StreamRelay {
  /** Takes the data of one upstream event. */
  push(data: string): string;
  /** Whether the round's last event has come. */
  isOver(): boolean;
  /** Ends a round: the body that a plain call would have given, and what is left to say of it. Throws an AppError when the stream broke off. */
  endRound(): { response: JsonObject; text: string };
  /** The events that close the stream. */
  finish(reply: Reply): string;
  /** The format's error event. */
  fail(error: { code: string; message: string }): string;
}

/** One wire format. Pure functions: they return new bodies and keep fields that they do not know. */
export interface ProviderAdapter {
  readonly format: WireFormat;
  readonly hint: ProviderHint;
  /** Most tools that a request may carry. */
  readonly maxTools: number;
  /** A frame that keeps an idle stream open. */
  readonly keepalive: string;
  /** A frame that no client takes notice of. */
  readonly probe: string;
  /** Content type of what a relay writes, where it is not the provider's own. */
  readonly streamContentType?: string;
  /** The tool in the provider's own shape. */
  defineTool(tool: ToolDefinition): JsonObject;
  /** Throws an AppError `invalid_request` when the body has not the shape of a request of this format. */
  describeRequest(request: JsonObject): RequestFacts;
  /** The request for a model under another name. */
  withModel(request: JsonObject, model: string): JsonObject;
  /** Puts tools (in the provider's shape) before and after the client's own. Throws an AppError for a request that cannot have any added. */
  injectTools(request: JsonObject, before: readonly JsonObject[], after: readonly JsonObject[]): JsonObject;
  /** Whether a plain reply is one of this format at all. */
  isReply(response: JsonObject): boolean;
  readTurn(response: JsonObject): ModelTurn;
  /** The request of the next round: the reply as it came, then one result for each call, in call order; a paused reply has none. */
  appendToolResults(request: JsonObject, response: JsonObject, results: readonly ToolResult[]): JsonObject;
  /** A tool choice that forced a call goes back to the model's own choice. */
  releaseToolChoice(request: JsonObject): JsonObject;
  /** The model may not call tools any more; the tools stay, so that the transcript stays valid and cached. */
  forbidTools(request: JsonObject): JsonObject;
  /** The transcript of a turn that is suspended: what `request` has more than `original`, the last reply and the results of its hidden calls. */
  suspendTurn(original: JsonObject, request: JsonObject, response: JsonObject, results: readonly ToolResult[]): Transcript;
  /** Ids of the calls in the request's history. */
  historyCallIds(request: JsonObject): string[];
  /** Puts suspended turns back. `turnOf` gives the original id of a call and the transcript it belongs to; undefined for calls without a marker. */
  restoreTurns(request: JsonObject, turnOf: (callId: string) => { id: string; transcript?: Transcript } | undefined): JsonObject;
  /** Takes out what an inline reply had put in, when a client echoes it. Returns the same object when there is nothing. */
  removeInlineResults(request: JsonObject): JsonObject;
  /** The one body that the client gets. */
  composeReply(reply: Reply, visibility: CallVisibility): JsonObject;
  /** `onCallReady` hears of each hidden call as soon as its arguments are complete, which may be long before the reply ends. */
  createRelay(request: JsonObject, visibility: CallVisibility, onCallReady?: (call: ToolCall) => void): StreamRelay;
  /** The request that is sent upstream for a streamed reply; it asks for what the relay needs. */
  prepareStream(request: JsonObject): JsonObject;
  errorBody(error: { status: number; code: string; message: string }): JsonObject;
  /** Left out by formats that have no way to ask a person. */
  readonly approvals?: NativeApprovals;
}
