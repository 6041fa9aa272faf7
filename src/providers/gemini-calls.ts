import { isJsonObject, type JsonObject, objectsOf } from '../json.ts';
import type { CallVisibility } from './adapter.ts';
import { fieldOf, objectOf, repeated, withField } from './gemini-fields.ts';

/** A call of a reply. */
export interface GeminiCall {
  /** The provider's id, or one of ours where it gave none. */
  id: string;
  name: string;
}

/** A part of a reply, and the call in it when there is one. */
export interface ReplyPart {
  part: JsonObject;
  call?: GeminiCall;
}

const SYNTHETIC_ID = /^omr_call_/;

/** An id for a call that the provider gave none. It is for our own bookkeeping, and the provider never sees it. */
export const synthesizeCallId = (responseId: unknown, position: number): string =>
  `omr_call_${typeof responseId === 'string' ? responseId : ''}_${position}`;

/** The function call of a part, when it names a function. */
export function namedCallOf(part: JsonObject): (JsonObject & { name: string }) | undefined {
  const call = objectOf(part, 'functionCall');
  return typeof call?.name === 'string' && call.name !== '' ? (call as JsonObject & { name: string }) : undefined;
}

/** A function call or function response with the id that the provider knows, or without one. */
export function withProviderId(named: JsonObject, id: string): JsonObject {
  const { id: _, ...rest } = named;
  return id === '' || SYNTHETIC_ID.test(id) ? rest : { id, ...rest };
}

export const candidateOf = (response: JsonObject): JsonObject | undefined => objectsOf(response.candidates)[0];

/** What the model said, as the next request has to give it back. */
export function contentOf(response: JsonObject): JsonObject {
  const content = candidateOf(response)?.content;
  return isJsonObject(content) ? { ...content, role: 'model', parts: repeated(content.parts) } : { role: 'model', parts: [] };
}

/** The parts of a reply with their calls. */
export function replyParts(response: JsonObject): ReplyPart[] {
  let position = 0;
  return repeated(contentOf(response).parts).map((part) => {
    const named = namedCallOf(part);
    if (named === undefined) return { part };
    const id = typeof named.id === 'string' && named.id !== '' ? named.id : synthesizeCallId(response.responseId, position);
    position += 1;
    return { part, call: { id, name: named.name } };
  });
}

/** True for a text part that says nothing and carries nothing. */
export const isEmptyText = (part: JsonObject): boolean =>
  part.text === '' && Object.keys(part).every((key) => key === 'text' || key === 'thought');

/**
 * What the API takes in place of a signature that is not there, or it would refuse the first call of a step
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
const NO_SIGNATURE = 'skip_thought_signature_validator';

export const isSigned = (part: JsonObject): boolean => fieldOf(part, 'thoughtSignature') !== undefined;

/** The part of a call that has become the first of its step, since the signed one before it is not shown. */
export const withoutItsSigner = (part: JsonObject): JsonObject =>
  isSigned(part) ? part : withField(part, 'thoughtSignature', NO_SIGNATURE);

/** How the parts of all rounds look to the client. */
export interface PartView {
  startRound(): void;
  /** The part as the client sees it; undefined for what is hidden. */
  show(reply: ReplyPart): JsonObject | undefined;
}

export function createPartView(visibility: CallVisibility): PartView {
  let hiddenSeen = false;
  let callShown = false;
  let signerHidden = false;
  return {
    startRound() {
      callShown = false;
      signerHidden = false;
    },
    show({ part, call }) {
      if (call === undefined) return part;
      if (visibility.isHidden(call.name)) {
        hiddenSeen = true;
        signerHidden ||= isSigned(part);
        return undefined;
      }
      const clientId = visibility.clientCallId(call.id, hiddenSeen);
      const staysWithoutId = clientId === call.id && SYNTHETIC_ID.test(call.id);
      const shown = staysWithoutId ? part : withField(part, 'functionCall', { ...objectOf(part, 'functionCall'), id: clientId });
      const needsSignature = signerHidden && !callShown;
      callShown = true;
      return needsSignature ? withoutItsSigner(shown) : shown;
    },
  };
}
