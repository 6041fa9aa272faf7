/** What the id of a client's call says of the turn that it belongs to. */
export interface CallMarker {
  /** The id as the provider gave it. */
  id: string;
  turnId: string;
  /** True when the id went out before it was known whether anything would be hidden: then there may be no suspended turn at all. */
  provisional: boolean;
}

const MARKED = /^(.*)_omr([mp])([A-Za-z0-9_-]{22})$/s;

const toBase64Url = (uuid: string): string => {
  const bytes = uuid
    .replaceAll('-', '')
    .match(/../g)
    ?.map((hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return btoa(bytes?.join('') ?? '')
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
};

/** A new, opaque id for a suspended turn: 22 characters that are valid inside the call ids of every provider. */
export const createTurnId = (newId: () => string): string => toBase64Url(newId());

/** Writes the marker behind the provider's id, in characters that every provider accepts. */
export const markCallId = ({ id, turnId, provisional }: CallMarker): string => `${id}_omr${provisional ? 'p' : 'm'}${turnId}`;

/** Reads the marker of a call id; undefined when it has none. */
export function readCallMarker(callId: string): CallMarker | undefined {
  const [, id, kind, turnId] = MARKED.exec(callId) ?? [];
  return id === undefined || turnId === undefined ? undefined : { id, turnId, provisional: kind === 'p' };
}
