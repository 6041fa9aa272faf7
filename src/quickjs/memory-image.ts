const PAGE_BYTES = 65_536;

/** What a memory held: its pages that are not empty, by their address. */
export type MemoryImage = ReadonlyMap<number, Uint8Array>;

/** Copies the memory of an engine that is at rest. */
export function takeImage({ buffer }: WebAssembly.Memory): MemoryImage {
  const image = new Map<number, Uint8Array>();
  for (let address = 0; address < buffer.byteLength; address += PAGE_BYTES) {
    if (new Uint32Array(buffer, address, PAGE_BYTES / 4).some((word) => word !== 0))
      image.set(address, new Uint8Array(buffer.slice(address, address + PAGE_BYTES)));
  }
  return image;
}

/** Puts a memory into the state that the image is of. It must have come by the same steps as far as it has come. */
export function restoreImage({ buffer }: WebAssembly.Memory, image: MemoryImage): void {
  for (const [address, page] of image) new Uint8Array(buffer, address, PAGE_BYTES).set(page);
}
