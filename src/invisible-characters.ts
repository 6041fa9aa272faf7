/** Marks that turn the direction of what is read, as members of a character class. */
export const DIRECTION_MARKS = String.raw`\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069`;

/**
 * Characters that show nothing or turn the text around, as a pattern for the flag `u`: models read them and people cannot see them. A variation
 * selector is one where there is nothing that it could vary: behind a sign, an emoji or an ideograph it says which shape that has.
 */
export const INVISIBLE_CHARACTER = String.raw`(?:[${DIRECTION_MARKS}\u200B\u2060-\u2064\u206A-\u206F\uFEFF\u{E0000}-\u{E007F}]|(?<![\p{S}\p{Emoji}\p{Ideographic}])[\uFE00-\uFE0F\u{E0100}-\u{E01EF}])`;
