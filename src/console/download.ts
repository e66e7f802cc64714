export const download = (name: string, content: Blob): void => {
  const link = document.createElement('a');
  const url = URL.createObjectURL(content);
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};
