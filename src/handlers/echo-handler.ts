import * as z from 'zod';
import { defineHandler } from './define-handler.ts';

const anyObject = z.record(z.string(), z.json());

/** Answers its input: for trying out a skill's schema and the way it takes. */
export const echoHandler = defineHandler({ name: 'echo-handler', input: anyObject, output: anyObject, run: (input) => input });
