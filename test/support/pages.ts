import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The project's folder. */
export const root = join(import.meta.dirname, '../..');

/** One document: README.md or a page of docs/. */
export type Page = {
  /** From the project's folder. */
  readonly path: string;
  readonly text: string;
};

export const readPage = async (path: string): Promise<Page> => ({
  path,
  text: await readFile(join(root, path), 'utf8'),
});

/** README.md, then the pages of docs/ and of its folders. */
export const readPages = async (): Promise<readonly Page[]> => {
  const names = (await readdir(join(root, 'docs'), { recursive: true })).filter((name) =>
    name.endsWith('.md'),
  );
  return Promise.all(['README.md', ...names.map((name) => `docs/${name}`)].map(readPage));
};

/** The code blocks of one language. */
export const blocksOf = ({ text }: Page, language: string): readonly string[] =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , code = '']) => code);

/** The commands of its `sh` blocks, a list for each block: joined where a backslash breaks the line, without comments. */
export const commandsOf = (page: Page): readonly (readonly string[])[] =>
  blocksOf(page, 'sh').map((block) =>
    // A quoted argument, too, may go over several lines.
    [...block.replaceAll('\\\n', '').matchAll(/(?:'[^']*'|"(?:\\.|[^"])*"|[^\n'"])+/g)]
      .map(([command]) => command.replace(/ +# .*$/, '').trim())
      .filter(Boolean),
  );

/** The rows of the table whose first header is `header`, as cells without their padding. */
export const rowsOf = ({ path, text }: Page, header: string): readonly (readonly string[])[] => {
  const [, table] = text.split(`\n| ${header} |`);
  if (table === undefined)
    throw new Error(`Expected a table that begins with ${header} in ${path}, got none.`);
  const lines = table.split('\n').slice(2);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
};
