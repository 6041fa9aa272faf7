import { createHash } from 'node:crypto';

/**
 * The opaque value that goes with something the model has said, to be handed back with it unchanged. Made from what it goes with, so
 * that a request shows by itself whether anything has been changed.
 */
export const sign = (kind: 'thinking' | 'thought' | 'reasoning', said: string): string =>
  createHash('sha512').update(`scripted ${kind}\n${said}`).digest('base64');
