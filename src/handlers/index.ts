import type { Handler } from './define-handler.ts';
import { echoHandler } from './echo-handler.ts';
import { reverseText } from './reverse-text.ts';

/** The handlers that a custom skill may name, by name. */
export const handlers: ReadonlyMap<string, Handler> = new Map([echoHandler, reverseText].map((handler) => [handler.name, handler]));
