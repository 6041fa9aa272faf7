export const HINTED_PROVIDERS = ['openai', 'anthropic', 'google'] as const;
export type HintedProvider = (typeof HINTED_PROVIDERS)[number];

/** Tags that tell for whose models a skill is made. */
export const PROVIDER_HINT_TAGS: Readonly<Record<HintedProvider, readonly string[]>> = {
  openai: ['openai', 'gpt'],
  anthropic: ['anthropic', 'claude'],
  google: ['google', 'gemini'],
};

export const POINTS = {
  wholeName: 6,
  nameToken: 2,
  tag: 3,
  descriptionToken: 1,
  backgroundNameToken: 2,
  backgroundTag: 2,
  fittingHint: 2,
  foreignHint: -2,
} as const;
