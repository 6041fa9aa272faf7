import { isJsonObject } from '../json.ts';
import type { ProviderAdapter } from './adapter.ts';
import { errorBody } from './gemini-error.ts';
import { type ChunkWriter, createChunkWriter, type GeminiFraming } from './gemini-framing.ts';
import { historyCallIds, removeInlineResults, restoreTurns, roundContents, suspendTurn } from './gemini-history.ts';
import { createGeminiRelay } from './gemini-relay.ts';
import { composeReply, readTurn } from './gemini-reply.ts';
import { describeRequest, forbidTools, injectTools, releaseToolChoice, withContents } from './gemini-request.ts';
import { compileForGemini } from './gemini-schema.ts';

/** What Gemini says of a request in the URL and not in the body. */
export interface GeminiCallKind {
  /** The model's name behind `models/`. */
  model: string;
  stream: boolean;
  /** How a stream is written for the client: as server-sent events with `alt=sse`, else as one JSON array. */
  framing: GeminiFraming;
}

/** What does not depend on the request. */
const shared: Omit<ProviderAdapter, 'describeRequest' | 'createRelay' | 'keepalive' | 'probe'> = {
  format: 'gemini',
  hint: 'google',
  maxTools: 512,
  defineTool: ({ name, description, parameters }) => {
    const compiled = compileForGemini(parameters);
    return { name, description, ...(compiled && { parameters: compiled }) };
  },
  withModel: (request) => request,
  injectTools,
  // A refused prompt has no candidates.
  isReply: ({ candidates, promptFeedback }) => Array.isArray(candidates) || isJsonObject(promptFeedback),
  readTurn,
  appendToolResults: (request, response, results) => withContents(request, roundContents(response, results)),
  releaseToolChoice,
  forbidTools,
  suspendTurn,
  historyCallIds,
  restoreTurns,
  removeInlineResults,
  composeReply,
  prepareStream: (request) => request,
  errorBody,
};

/** The adapter for one request of Gemini's generateContent or streamGenerateContent. https://ai.google.dev/api/generate-content */
export function createGemini({ model, stream, framing }: GeminiCallKind): ProviderAdapter {
  let writer: ChunkWriter = createChunkWriter(framing);
  return {
    ...shared,
    ...(framing === 'json-array' && { streamContentType: 'application/json; charset=UTF-8' }),
    get keepalive() {
      return writer.idle;
    },
    get probe() {
      return writer.idle;
    },
    describeRequest: (request) => describeRequest(request, model, stream),
    createRelay(_, visibility, onCallReady) {
      writer = createChunkWriter(framing);
      return createGeminiRelay(writer, visibility, onCallReady);
    },
  };
}

/** The versions of the API; a provider is asked in the one that its client speaks. */
export const GEMINI_VERSIONS = ['v1', 'v1beta', 'v1alpha'] as const;

export interface GeminiTarget {
  version: (typeof GEMINI_VERSIONS)[number];
  model: string;
  action: 'generateContent' | 'streamGenerateContent' | 'countTokens';
}

/** Where a provider answers for a model, behind its base URL. A stream that is read here has to be one of events. */
export function geminiPath({ version, model, action }: GeminiTarget, framing: GeminiFraming = 'sse'): string {
  const query = action === 'streamGenerateContent' && framing === 'sse' ? '?alt=sse' : '';
  return `/${version}/models/${encodeURIComponent(model.toWellFormed())}:${action}${query}`;
}
