import { Duplex } from 'node:stream';
import { FrameReader } from '../frame-reader.ts';

/** A container's stdin and stdout as one stream, from its attach stream. Reads no more than is asked for; stderr goes to `onError`. */
export function createContainerPipe(attached: Duplex, onError: (bytes: Buffer) => void): Duplex {
  const frames = new FrameReader((name, bytes) => {
    if (name === 'stderr') onError(bytes);
    else if (!pipe.push(bytes)) attached.pause();
  });
  const pipe = new Duplex({
    read: () => attached.resume(),
    write: (chunk: Buffer, _encoding, callback) => attached.write(chunk, callback),
    final: (callback) => attached.end(callback),
  });
  attached.on('data', (chunk: Buffer) => frames.push(chunk));
  attached.on('close', () => pipe.destroy());
  attached.on('end', () => pipe.push(null));
  return pipe;
}
