import { Refusal } from './refusal.ts';

const errorBody = (message: string, code: string | null) => ({ error: { message, type: 'invalid_request_error', param: null, code } });

/** A failure in OpenAI's shape. What is not a Refusal is a bug, and thrown on. */
export function answerOpenAiError(error: Error): Response {
  if (!(error instanceof Refusal)) throw error;
  return Response.json(errorBody(error.message, error.code), { status: error.status });
}
