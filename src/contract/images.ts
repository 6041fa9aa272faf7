/** Images that a run may use without further configuration. */
export const DEFAULT_SANDBOX_IMAGES = ['alpine:3.20', 'node:22-alpine', 'python:3.12-alpine'] as const;

/** The images of the comma list `SKILLS_ALLOWED_SANDBOX_IMAGES`, added to the three defaults. */
export const allowedImages = (extra: string): string[] => [
  ...new Set([
    ...DEFAULT_SANDBOX_IMAGES,
    ...extra
      .split(',')
      .map((image) => image.trim())
      .filter((image) => image !== ''),
  ]),
];

/** The image as written in the list when it is allowed, else undefined. White space around it does not matter; nothing else is forgiven. */
export const normalizeImage = (image: string, allowed: readonly string[]): string | undefined =>
  allowed.find((candidate) => candidate === image.trim());
