import type { Endpoint, Webhook } from './webhook.ts';

export type WebhookChanges = { [Field in keyof Endpoint]?: Endpoint[Field] | undefined };

/** Where webhooks are kept. Every method rejects with an AppError `database_unavailable` when that cannot be reached. */
export interface WebhookStore {
  /** By name; pages count from 1. */
  listPage(page: number, limit: number): Promise<{ data: Webhook[]; total: number }>;
  /** All of them, sorted. */
  listNames(): Promise<string[]>;
  get(id: string): Promise<Webhook | undefined>;
  /** Read for each call, so that a new URL or secret holds at once, everywhere. */
  findEndpoint(name: string): Promise<Endpoint | undefined>;
  /** Rejects with an AppError `handler_exists` when there is one of this name. */
  insert(webhook: Webhook & Pick<Endpoint, 'secret'>): Promise<void>;
  /** The webhook as it is now; undefined when there is none of this id. */
  update(id: string, changes: WebhookChanges, now: Date): Promise<Webhook | undefined>;
  /** Whether there was one. Rejects with an AppError `handler_in_use` while skills name it; `details` has their ids. */
  delete(id: string): Promise<boolean>;
}
