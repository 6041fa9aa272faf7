const UNIT_MS = {
  ...{ second: 1_000, sec: 1_000, minute: 60_000, min: 60_000, hour: 3_600_000, hr: 3_600_000 },
  ...{ day: 86_400_000, week: 604_800_000, month: 2_629_800_000, year: 31_557_600_000 },
} as const;
const DAY_MS = UNIT_MS.day;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const AGO = /^(\d{1,4}|an?) (second|sec|minute|min|hour|hr|day|week|month|year)s? ago$/i;
const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|[+-]\d{2}:?\d{2})?)?$/i;
const MONTH_FIRST = /^([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})$/;
const DAY_FIRST =
  /^(?:[A-Za-z]{3},? )?(\d{1,2}) ([A-Za-z]{3,9})\.?,? (\d{4})(?: (\d{2}:\d{2}(?::\d{2})?) ?(?:GMT|UTC|Z|([+-]\d{2}:?\d{2})))?$/;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** `YYYY-MM-DD` when there is such a day, and with a clock time the moment in UTC. */
function fromParts(day: string, clock: string | undefined, zone: string | undefined): string | undefined {
  const start = Date.parse(`${day}T00:00:00Z`);
  // The parser turns 31 April into 1 May.
  if (Number.isNaN(start) || dayOf(start) !== day) return undefined;
  if (clock === undefined) return day;
  const offset = zone === undefined ? 'Z' : zone.toUpperCase().replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2');
  const moment = Date.parse(`${day}T${clock}${offset}`);
  return Number.isNaN(moment) ? undefined : new Date(moment).toISOString();
}

function fromNamedMonth(day = '', month = '', year = '', clock?: string, zone?: string): string | undefined {
  const index = MONTHS.indexOf(month.slice(0, 3).toLowerCase());
  return index < 0 ? undefined : fromParts(`${year}-${String(index + 1).padStart(2, '0')}-${day.padStart(2, '0')}`, clock, zone);
}

function fromAge(count: string, unit: string, now: number): string {
  const unitMs = UNIT_MS[unit.toLowerCase() as keyof typeof UNIT_MS];
  const time = now - (/^an?$/i.test(count) ? 1 : Number(count)) * unitMs;
  return unitMs < DAY_MS ? new Date(time).toISOString() : dayOf(time);
}

/**
 * A date of a search result as ISO 8601: a day, or a moment in UTC where a time is told. Understands ISO 8601, RFC 1123, English dates with
 * the month's name, and ages such as `3 days ago`, counted from `now` (milliseconds since 1970). Times without a zone are UTC.
 */
export function parseDate(text: string, now: number): string | undefined {
  const date = text.trim();
  const iso = ISO.exec(date);
  if (iso) return fromParts(`${iso[1]}-${iso[2]}-${iso[3]}`, iso[4], iso[5]);
  const ago = AGO.exec(date);
  if (ago) return fromAge(ago[1] ?? '', ago[2] ?? '', now);
  if (/^(today|just now)$/i.test(date)) return dayOf(now);
  if (/^yesterday$/i.test(date)) return dayOf(now - DAY_MS);
  const monthFirst = MONTH_FIRST.exec(date);
  if (monthFirst) return fromNamedMonth(monthFirst[2], monthFirst[1], monthFirst[3]);
  const dayFirst = DAY_FIRST.exec(date);
  return dayFirst ? fromNamedMonth(dayFirst[1], dayFirst[2], dayFirst[3], dayFirst[4], dayFirst[5]) : undefined;
}
