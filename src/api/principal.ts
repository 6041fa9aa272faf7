import { ANONYMOUS_OWNER } from '../skills/skill.ts';

export const SCOPES = ['chat', 'read:skills', 'write:skills', 'execute:skills', 'manage'] as const;
export type Scope = (typeof SCOPES)[number];

/** What an endpoint asks of its caller. */
export type Demand = Scope | 'management';

/** Who asks. The management may do everything and owns nothing. */
export type Principal = { kind: 'management' } | { kind: 'key'; apiKeyId: string; scopes: readonly Scope[]; remembersOutcomes: boolean };

export const isManagement = (principal: Principal): boolean => principal.kind === 'management' || principal.scopes.includes('manage');

export const hasScope = (principal: Principal, scope: Scope): boolean =>
  isManagement(principal) || (principal.kind === 'key' && principal.scopes.includes(scope));

/** Whose things the principal may see and decide about; undefined: everybody's. */
export const visibleOwner = (principal: Principal): string | undefined => (isManagement(principal) ? undefined : ownerOf(principal));

/** The owner of what the principal does. */
export const ownerOf = (principal: Principal): string => (principal.kind === 'key' ? principal.apiKeyId : ANONYMOUS_OWNER);
