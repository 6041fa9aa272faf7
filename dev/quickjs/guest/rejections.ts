import { inspect } from 'node-inspect-extracted';
import type { Guest, Host } from '../../../src/quickjs/guest.ts';

const explain = (reason: string): string =>
  'UnhandledPromiseRejection: This error originated either by throwing inside of an async function without a catch block, or by rejecting a ' +
  `promise which was not handled with .catch(). The promise rejected with the reason "${reason}". {\n  code: 'ERR_UNHANDLED_REJECTION'\n}`;

/** Promises that are rejected and not handled, in their order. Leans on nothing that a program can change. */
export function createRejections(
  { promiseState }: Host,
  describeError: Guest['describeError'],
): Pick<Guest, 'trackRejection' | 'describeRejection'> {
  const rejected: (Promise<unknown> | undefined)[] = [];
  return {
    trackRejection(promise, isHandled) {
      if (!isHandled) rejected[rejected.length] = promise;
      else for (let index = 0; index < rejected.length; index += 1) if (rejected[index] === promise) rejected[index] = undefined;
    },
    describeRejection() {
      for (let index = 0; index < rejected.length; index += 1) {
        const promise = rejected[index];
        if (promise === undefined) continue;
        const reason = promiseState(promise)[1];
        return reason instanceof Error
          ? describeError(reason)
          : explain(typeof reason === 'string' ? reason : inspect(reason, { depth: 1 }));
      }
      return '';
    },
  };
}
