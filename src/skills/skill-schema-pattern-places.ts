import type { Node } from './skill-schema-pattern-parser.ts';

/** One place in a pattern that matches one character, and the places that can match the next one. */
export interface Place {
  source: string;
  follow: Set<Place>;
  /** Those that can be reached in more than one way. */
  followTwice: Set<Place>;
}

/** How an expression can begin and end, and whether it can match nothing (Glushkov, 1961). */
interface Shape {
  first: readonly Place[];
  last: readonly Place[];
  nullable: boolean;
}

export class TooLarge extends Error {}

const MAX_PLACES = 100;
/** Copies that a counted repetition is written out into; what is counted further counts as endless. */
const MAX_COPIES = 4;
const NOTHING: Shape = { first: [], last: [], nullable: true };

function connect(from: Shape, to: Shape): void {
  for (const place of from.last) {
    for (const next of to.first) (place.follow.has(next) ? place.followTwice : place.follow).add(next);
  }
}

function inSequence(left: Shape, right: Shape): Shape {
  connect(left, right);
  return {
    first: left.nullable ? [...left.first, ...right.first] : left.first,
    last: right.nullable ? [...left.last, ...right.last] : right.last,
    nullable: left.nullable && right.nullable,
  };
}

const either = (left: Shape, right: Shape): Shape => ({
  first: [...left.first, ...right.first],
  last: [...left.last, ...right.last],
  nullable: left.nullable || right.nullable,
});

/** All places of a pattern. Look-around and what refers back to a group are taken for nothing, look-around being a pattern of its own. */
export function placesOf(pattern: Node): Place[] {
  const places: Place[] = [];

  function placeOf(source: string): Shape {
    if (places.length === MAX_PLACES) throw new TooLarge();
    const place: Place = { source, follow: new Set(), followTwice: new Set() };
    places.push(place);
    return { first: [place], last: [place], nullable: false };
  }

  const shapeOfAlternatives = (alternatives: readonly Node[][]): Shape =>
    alternatives.map((sequence) => sequence.map(shapeOf).reduce(inSequence, NOTHING)).reduce(either, { ...NOTHING, nullable: false });

  /** `x{1,3}` is `x(x(x)?)?`: there is one way only to match two of them. */
  function shapeOfCopies(body: Node, min: number, max: number): Shape {
    if (max === 0) return NOTHING;
    const shape = inSequence(shapeOf(body), shapeOfCopies(body, Math.max(0, min - 1), max - 1));
    return min === 0 ? { ...shape, nullable: true } : shape;
  }

  function shapeOf(node: Node): Shape {
    switch (node.kind) {
      case 'character':
        return placeOf(node.source);
      case 'reference':
        return NOTHING;
      case 'assertion':
        shapeOfAlternatives(node.alternatives);
        return NOTHING;
      case 'group':
        return shapeOfAlternatives(node.alternatives);
      case 'repetition': {
        if (node.max <= MAX_COPIES) return shapeOfCopies(node.body, node.min, node.max);
        const shape = shapeOf(node.body);
        connect(shape, shape);
        return node.min === 0 ? { ...shape, nullable: true } : shape;
      }
      default:
        return node satisfies never;
    }
  }

  shapeOf(pattern);
  return places;
}
