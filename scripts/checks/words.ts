import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';

/** Holds the vocabulary: the field's term instead of a private word, and a named subject in every comment. */

/** A private word, and the term to use for it. */
const TERMS: readonly (readonly [word: RegExp, term: string])[] = [
  [/\bpatience\b/i, 'deadline'],
  [/\bfarewell\b/i, 'graceful shutdown'],
  [/\blast.words\b/i, 'close timeout'],
  [/\bvouch(?:es|ed)?\b/i, 'verify'],
  [/\bgiven.up\b/i, 'abandoned'],
  [/\bown.words\b/i, 'rewritten message'],
  [/\bunsaid\b/i, 'omitted'],
  [/\bshelf\b/i, 'cache entry'],
  [/\bstandIns?\b|\bstand_in/i, 'stale-if-error'],
  [/\btakenForDown\b|\btaken for down\b/i, 'circuit open'],
];

/** The start of a sentence whose subject is a pronoun instead of the client, the caller or upstream. */
const UNNAMED_SUBJECT = /(?:^|[.:;!?]\s+)(?:Who|Whoever|Whom|Nobody)\b/;
const COMMENT = /\/\*\*?([\s\S]*?)\*\/|(?<![:'"`\w])\/\/(.*)$/gm;

const filesOf = (...paths: readonly string[]): string[] =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...paths], {
    encoding: 'utf8',
  })
    .split('\0')
    .filter((path) => /\.(tsx?|md|js|mjs)$/.test(path));

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length;

const privateWords = (path: string, text: string): string[] =>
  TERMS.flatMap(([word, term]) =>
    [...text.matchAll(new RegExp(word, 'gi'))].map(
      ({ 0: found, index }) => `${path}:${lineOf(text, index)} says "${found}"; the term is ${term}`,
    ),
  );

const unnamedSubjects = (path: string, text: string): string[] =>
  [...text.matchAll(COMMENT)].flatMap(({ 1: block, 2: line, index }) => {
    const sentences = (block ?? line ?? '').replace(/\n\s*\*/g, ' ').trim();
    const found = UNNAMED_SUBJECT.exec(sentences);
    return found
      ? [
          `${path}:${lineOf(text, index)} begins a sentence with "${found[0].trim()}"; name the client, the caller or upstream`,
        ]
      : [];
  });

const files = filesOf('src', 'test', 'docs', 'README.md', 'examples');
const problems = files.flatMap((path) => {
  const text = readFileSync(path, 'utf8');
  return [...privateWords(path, text), ...(/\.tsx?$/.test(path) ? unnamedSubjects(path, text) : [])];
});
if (files.length < 400) problems.push(`Expected more than 400 files to read, got ${files.length}`);
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exitCode = 1;
}
