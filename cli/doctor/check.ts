export type CheckStatus = 'ok' | 'warning' | 'failed';

/** What was found out about one part of a gateway. */
export interface Check {
  name: string;
  status: CheckStatus;
  message: string;
  /** What to do about it. */
  todo?: string;
}

export const ok = (name: string, message: string): Check => ({ name, status: 'ok', message });
export const warning = (name: string, message: string, todo: string): Check => ({ name, status: 'warning', message, todo });
export const failed = (name: string, message: string, todo: string): Check => ({ name, status: 'failed', message, todo });
