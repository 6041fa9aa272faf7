// The embedded libSQL of the benchmark, in a process of its own: sends { url } to its parent, tells how long it has been busy whenever it
// is asked, and ends with its parent.
import { subscribe } from 'node:diagnostics_channel';
import { startLibsqlServer } from '../dev/libsql-server.ts';

const [path = ':memory:'] = process.argv.slice(2);

let openRequests = 0;
let busySince = 0;
/** Milliseconds in which at least one request was being answered. */
let busyMs = 0;

subscribe('http.server.request.start', () => {
  if (openRequests === 0) busySince = performance.now();
  openRequests += 1;
});
subscribe('http.server.response.finish', () => {
  openRequests -= 1;
  if (openRequests === 0) busyMs += performance.now() - busySince;
});

const server = await startLibsqlServer({ path, port: 0, host: '127.0.0.1' });
process.send?.({ url: server.url });
process.on('message', () => process.send?.({ busyMs }));
process.once('disconnect', () => void server.close().then(() => process.exit(0)));
