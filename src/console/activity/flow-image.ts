import { shortHex } from '../format.ts';
import { labelOf } from '../labels.ts';

/** Draws a transaction's flow as an image to save, always in the light theme. */

export type DrawnLane = {
  readonly tone: 'in' | 'out' | 'note';
  readonly points: 'in' | 'out';
  readonly text: string;
  readonly party: string;
};

const WIDTH = 900;
const HEAD = 92;
const ROW = 44;
const INK = {
  text: '#14181d',
  quiet: '#55606d',
  line: '#d9dee5',
  in: '#17693a',
  out: '#b3261e',
  note: '#55606d',
};

/** Names are strangers' words: one that turns the direction of text would turn the line that it is in. */
const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');

export const nameIn = (party: string): string => labelOf(party) ?? shortHex(party);

/** `title` is above the lanes, `facts` below it. */
export const drawFlow = (
  title: string,
  facts: string,
  wallet: string,
  lanes: readonly DrawnLane[],
): HTMLCanvasElement => {
  const canvas = document.createElement('canvas');
  const height = HEAD + ROW * Math.max(1, lanes.length) + 24;
  canvas.width = WIDTH * 2;
  canvas.height = height * 2;
  const pen = canvas.getContext('2d');
  if (pen === null) return canvas;
  pen.scale(2, 2);
  pen.fillStyle = '#ffffff';
  pen.fillRect(0, 0, WIDTH, height);
  const write = (
    text: string,
    x: number,
    y: number,
    colour: string,
    font = '15px',
    most = WIDTH - x - 24,
  ) => {
    pen.fillStyle = colour;
    pen.font = `${font} system-ui, sans-serif`;
    pen.fillText(plain(text), x, y, most);
  };
  write(title, 24, 36, INK.text, 'bold 20px');
  write(facts, 24, 62, INK.quiet);
  for (const [index, { tone, points, text, party }] of lanes.entries()) {
    const y = HEAD + ROW * index + 26;
    pen.fillStyle = INK.line;
    pen.fillRect(24, y - 26, WIDTH - 48, 1);
    write(nameIn(wallet), 24, y, INK.text, '15px', 200);
    write(points === 'in' ? '←' : '→', 240, y, INK[tone], 'bold 18px', 30);
    write(text, 280, y, INK[tone], 'bold 15px', 360);
    write(party, 660, y, INK.text, '15px', 216);
  }
  return canvas;
};
