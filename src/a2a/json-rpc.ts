import * as z from 'zod';
import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue, MAX_JSON_DEPTH } from '../json.ts';
import { A2AError } from './a2a-error.ts';
import type { Dialect } from './dialect.ts';

export type RpcId = string | number | null;

export interface RpcRequest {
  id: RpcId;
  method: string;
  params: JsonValue | undefined;
}

/** Longest id that another agent may give. */
export const MAX_ID_CHARS = 200;
const id = z.union([z.string().max(MAX_ID_CHARS), z.int(), z.null()]).default(null);

/** The id that an answer bears, also to a request that is no good. */
export function idOf(value: JsonValue): RpcId {
  const parsed = id.safeParse(isJsonObject(value) ? value.id : undefined);
  return parsed.success ? parsed.data : null;
}

/** Throws an A2AError for what is not JSON. */
export function parseRpc(bytes: Uint8Array): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)) as JsonValue;
  } catch {
    throw new A2AError('PARSE_ERROR', 'The body is not valid JSON');
  }
  if (isDeeperThan(value, MAX_JSON_DEPTH)) throw new A2AError('PARSE_ERROR', `The body is nested deeper than ${MAX_JSON_DEPTH} levels`);
  return value;
}

/** A request of JSON-RPC 2.0 (jsonrpc.org/specification). Throws an A2AError for anything else. */
export function readRpc(value: JsonValue): RpcRequest {
  if (Array.isArray(value)) throw new A2AError('INVALID_REQUEST', 'Batches are not supported: send one request at a time');
  if (!isJsonObject(value)) throw new A2AError('INVALID_REQUEST', 'The request must be a JSON object');
  const { jsonrpc, method, params } = value;
  if (jsonrpc !== '2.0') throw new A2AError('INVALID_REQUEST', 'jsonrpc: must be "2.0"');
  // Every method is a question, and a notification has no id to answer it by.
  if (value.id === undefined) throw new A2AError('INVALID_REQUEST', 'id: Notifications are not supported: send an id');
  if (!id.safeParse(value.id).success) throw new A2AError('INVALID_REQUEST', 'id: must be a string, an integer or null');
  if (typeof method !== 'string' || method === '') throw new A2AError('INVALID_REQUEST', 'method: a string is required');
  return { id: idOf(value), method, params };
}

export const rpcResult = (id: RpcId, result: JsonValue): JsonObject => ({ jsonrpc: '2.0', id, result });

export const rpcError = (id: RpcId, error: A2AError, dialect: Pick<Dialect, 'errorDetails'> | undefined): JsonObject => ({
  jsonrpc: '2.0',
  id,
  error: { code: error.code, message: error.message, ...dialect?.errorDetails(error) },
});
