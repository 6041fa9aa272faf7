/** What a search found in one text. */
export interface Finding {
  signals: Int32Array;
  /** Bytes of scripts without spaces that were split into words for it. */
  segmentedSize: number;
}

/** What one search remembers of the texts that it has been through. */
export interface KnownTexts {
  recall(text: string): Finding | undefined;
  keep(text: string, finding: Finding): void;
}

/**
 * What was found in texts, within one bound for all searches of an isolate: a conversation comes back whole with every request and with
 * every round of tools, so most of what is searched was searched before. The texts stay in memory and go nowhere else.
 */
export interface ScoringMemory {
  open(): KnownTexts;
}

/** Shorter texts are searched as fast as they are looked up. */
const MIN_CHARS = 128;

interface Remembered {
  text: string;
  finding: Finding;
  /** Where it is found. */
  among: Map<string, Remembered>;
}

/** Keeps texts of `maxChars` characters in all; the ones that were kept first are forgotten first. */
export function createScoringMemory(maxChars = 4_194_304): ScoringMemory {
  const remembered = new Set<Remembered>();
  let chars = 0;
  return {
    open() {
      const among = new Map<string, Remembered>();
      return {
        recall: (text) => (text.length < MIN_CHARS ? undefined : among.get(text)?.finding),
        keep(text, finding) {
          if (text.length < MIN_CHARS || text.length > maxChars || among.has(text)) return;
          const entry = { text, finding, among };
          among.set(text, entry);
          remembered.add(entry);
          chars += text.length;
          for (const oldest of remembered) {
            if (chars <= maxChars) break;
            remembered.delete(oldest);
            oldest.among.delete(oldest.text);
            chars -= oldest.text.length;
          }
        },
      };
    },
  };
}
