import { ERROR_STATUS, type ErrorCode } from '../errors.ts';
import type { JsonObject } from '../json.ts';

/** Google's names of errors by HTTP status. https://cloud.google.com/apis/design/errors#handling_errors */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

const statusName = (status: number): string => STATUS_NAMES[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT');

/** An error as the API writes it; our own code is the reason in its details. */
export const errorBody = ({ status, code, message }: { status: number; code: string; message: string }): JsonObject => ({
  error: {
    code: status,
    message,
    status: statusName(status),
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code.toUpperCase(), domain: 'omniroute' }],
  },
});

/** An error that ends a stream whose status is out already; clients take it for one by its number. */
export const streamErrorBody = ({ code, message }: { code: string; message: string }, reportedStatus?: number): JsonObject =>
  errorBody({ status: reportedStatus ?? ERROR_STATUS[code as ErrorCode] ?? 500, code, message });
