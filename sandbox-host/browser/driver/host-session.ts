import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';

/** Bytes of one connection, and of all, that may be under way. */
const STREAM_WINDOW_BYTES = 262_144;
const SESSION_WINDOW_BYTES = 16_777_216;

/** The container's only way out: HTTP/2 over stdin and stdout, with the sandbox-host as the server. */
export function openHostSession(): ClientHttp2Session {
  // As sockets, since process.stdout would block on a pipe that is full.
  const standardInput = new Socket({ fd: 0, readable: true, writable: false });
  const standardOutput = new Socket({ fd: 1, readable: false, writable: true });
  const session = connect('http://sandbox-host', {
    createConnection: () => Duplex.from({ readable: standardInput, writable: standardOutput }),
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
  });
  session.once('connect', () => session.setLocalWindowSize(SESSION_WINDOW_BYTES));
  return session;
}

/** The body of the answer to a GET. */
export async function fetchText(session: ClientHttp2Session, path: string): Promise<string> {
  return text(session.request({ ':method': 'GET', ':path': path }));
}

/** Sends a body and waits until it has been taken. */
export function postText(session: ClientHttp2Session, path: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream: ClientHttp2Stream = session.request({ ':method': 'POST', ':path': path });
    stream.on('error', reject).on('close', resolve).resume().end(body);
  });
}
