import type { JsonObject } from '../../src/json.ts';
import { body, chunk, end } from '../providers/gemini-chunks.ts';
import { sendEvents, sendJson, type UpstreamHandler } from './mock-upstream.ts';

export interface ScriptedContent {
  parts: JsonObject[];
  finish?: string;
  id?: string;
}

/** The chunks of a reply as the API streams it: texts in pieces, calls whole, and the end in a chunk of its own. */
export function contentChunks({ parts, finish = 'STOP', id = 'r1' }: ScriptedContent): JsonObject[] {
  const pieces = parts.flatMap((part) => {
    if (typeof part.text !== 'string' || 'thoughtSignature' in part) return [part];
    return (part.text.match(/.{1,5}/gs) ?? ['']).map((piece) => ({ ...part, text: piece }));
  });
  return [...pieces.map((part) => chunk([part], { responseId: id })), end({ responseId: id }, finish)];
}

/** Sends chunks as one JSON array, as the API does without `alt=sse`. */
export const sendArray =
  (...chunks: JsonObject[]): UpstreamHandler =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8' });
    for (const [position, each] of chunks.entries()) response.write(`${position === 0 ? '[' : ',\r\n'}${JSON.stringify(each)}`);
    response.end('\n]');
  };

/** Plain, as events or as an array, as the URL asks. */
export const contentReply =
  (reply: ScriptedContent): UpstreamHandler =>
  (request, response, closed) => {
    const { parts, finish, id = 'r1' } = reply;
    const isStreamed = request.path.includes(':streamGenerateContent');
    const streamed = new URL(request.path, 'http://upstream').searchParams.get('alt') === 'sse' ? sendEvents : sendArray;
    const send = isStreamed ? streamed(...contentChunks(reply)) : sendJson(body(parts, finish, { responseId: id }));
    return send(request, response, closed);
  };

export const errorReply = (code: number, status: string, message: string, headers: Record<string, string> = {}): UpstreamHandler =>
  sendJson({ error: { code, message, status } }, code, headers);
