import { AppError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { ProviderAdapter, Transcript } from '../providers/adapter.ts';
import { readCallMarker } from './call-marker.ts';

/** Where the transcripts of suspended turns are kept. */
export interface SuspendedTurnStore {
  save(turn: { id: string; apiKeyId: string; transcript: Transcript; expiresInMs: number }): Promise<void>;
  /** The owner's turns among these ids that have not expired. */
  load(ids: readonly string[], apiKeyId: string): Promise<Map<string, Transcript>>;
}

/** How long a client may take to come back with its results. */
export const SUSPENDED_TURN_TTL_MS = 7 * 24 * 3_600_000;

/**
 * Restores the turns whose calls the client's history shows, so that the provider sees them as if nothing had been hidden. Returns the same
 * object when the history has no marker. Rejects with `unknown_suspended_turn`.
 */
export async function restoreSuspendedTurns(
  adapter: ProviderAdapter,
  request: JsonObject,
  apiKeyId: string,
  store: SuspendedTurnStore,
): Promise<JsonObject> {
  const markers = adapter.historyCallIds(request).flatMap((id) => readCallMarker(id) ?? []);
  if (markers.length === 0) return request;
  const transcripts = await store.load([...new Set(markers.map((marker) => marker.turnId))], apiKeyId);
  const lost = markers.find((marker) => !marker.provisional && !transcripts.has(marker.turnId));
  if (lost) {
    throw new AppError(
      'unknown_suspended_turn',
      `The tool call ${lost.id} belongs to a turn that is unknown or has expired; start the turn again from the message before it`,
    );
  }
  return adapter.restoreTurns(request, (callId) => {
    const marker = readCallMarker(callId);
    if (marker === undefined) return undefined;
    const transcript = transcripts.get(marker.turnId);
    return { id: marker.id, ...(transcript !== undefined && { transcript }) };
  });
}
