/**
 * Lets a validator look at a value and tells which fields it never looked at: generated validators read every field of their schema by name, so
 * that what they leave out is one they do not know. Lists and maps are read as a whole.
 */
export function watchFields<T extends object>(value: T): { watched: T; unread(): string[] } {
  const unread = new Set<string>();
  const watch = (target: object, path: string): object => {
    const children = new Map<PropertyKey, object>();
    for (const key of Object.keys(target)) unread.add(`${path}.${key}`);
    return new Proxy(target, {
      get(from, key, receiver) {
        unread.delete(`${path}.${String(key)}`);
        const field = Reflect.get(from, key, receiver);
        if (typeof field !== 'object' || field === null) return field;
        const child = children.get(key) ?? watch(field, `${path}.${String(key)}`);
        children.set(key, child);
        return child;
      },
    });
  };
  return { watched: watch(value, '') as T, unread: () => [...unread].sort() };
}
