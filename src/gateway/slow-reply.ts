import { createClientStream } from './client-stream.ts';

export interface JsonReply {
  /** JSON text. */
  body: string;
  /** Headers that are only known at the end; left out when the others have gone out before. */
  headers: Record<string, string>;
}

export interface SlowReply {
  /** Rejects with what the caller has to be told. */
  work: Promise<JsonReply>;
  /** Resolves once the reply is certain to be a success as far as its status says. */
  certain: Promise<void>;
  headers(): Headers;
  /** Called when the client goes before the end. */
  onLeave(): void;
  now(): number;
}

/** A reply that takes longer than this after it is certain sends its headers ahead, without those that are only known at the end. */
const HEADERS_AFTER_MS = 3_000;
const PROBE_MS = 400;

/**
 * Answers with JSON that may take long. workerd notices that a client has left only when it writes to it, so a slow reply begins with white
 * space, which JSON allows (RFC 8259, section 2), until its body is there. When the work fails after that, the connection breaks off, since a
 * body that ends well would look like a success.
 */
export function replySlowly({ work, certain, headers, onLeave, now }: SlowReply): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOpen = true;
  const settle = (answer: () => void) => {
    clearTimeout(timer);
    if (isOpen) answer();
    isOpen = false;
  };
  work.then(
    (reply) =>
      settle(() => {
        const complete = headers();
        for (const [name, value] of Object.entries(reply.headers)) complete.set(name, value);
        resolve(new Response(reply.body, { headers: complete }));
      }),
    (error: unknown) => settle(() => reject(error)),
  );
  void certain.then(() => {
    if (isOpen) timer = setTimeout(() => settle(() => resolve(openReply())), HEADERS_AFTER_MS);
  });

  function openReply(): Response {
    const client = createClientStream(onLeave, now);
    const probing = setInterval(() => client.probe(' '), PROBE_MS);
    client.probe(' ');
    void work
      .then(
        async ({ body }) => {
          await client.write(body);
          client.close();
        },
        (error: unknown) => client.fail(error),
      )
      .finally(() => clearInterval(probing));
    const ahead = headers();
    // Platforms that compress would hold back the white space.
    ahead.set('content-encoding', 'identity');
    ahead.set('cache-control', 'no-cache, no-transform');
    return new Response(client.readable, { headers: ahead });
  }

  return promise;
}
