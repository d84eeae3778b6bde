// Checks that run in the browser. Each function returns a list of faults, as sentences.
(() => {
  const shown = e => e.checkVisibility({visibilityProperty: true});
  const where = e => {
    const section = e.closest('section, header');
    const text = (e.textContent || '').trim().replace(/\s+/g, ' ').slice(0, 40);
    return `<${e.tagName.toLowerCase()}${e.getAttribute('class') ? ' class=' + e.getAttribute('class') : ''}> "${text}"` +
           (section && section.querySelector('h2') ? ` in "${section.querySelector('h2').textContent}"` : '');
  };
  const rgba = text => {
    const n = (text.match(/[\d.]+/g) || []).map(Number);
    return text === 'none' || n.length < 3 ? [0, 0, 0, 0] : [n[0], n[1], n[2], n.length > 3 ? n[3] : 1];
  };
  const over = (above, below) => {
    const a = above[3];
    return [0, 1, 2].map(i => above[i] * a + below[i] * (1 - a)).concat(1);
  };
  const luminance = colour => {
    const [r, g, b] = colour.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  /// The colour behind an HTML element: the backgrounds of its ancestors, blended.
  const background = e => {
    const layers = [];
    for (; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
    const dark = matchMedia('(prefers-color-scheme: dark)').matches && !matchMedia('print').matches;
    return layers.reverse().reduce((below, layer) => over(layer, below), dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  };
  const opacity = e => {
    let share = 1;
    for (; e; e = e.parentElement) share *= Number(getComputedStyle(e).opacity);
    return share;
  };
  /// The colour behind an SVG text: that of the cell drawn before it in its group, if any.
  const beneath = text => {
    const rect = text.parentElement.tagName === 'g' ? text.parentElement.querySelector(':scope > rect') : null;
    const below = background(text.closest('svg').parentElement);
    if (!rect) return below;
    const style = getComputedStyle(rect), fill = rgba(style.fill);
    fill[3] *= Number(style.fillOpacity);
    return over(fill, below);
  };

  /// Texts with a contrast below 4.5; `texts` counts the texts that were checked.
  const contrasts = () => {
    const faults = [];
    let texts = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const e = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || e.closest('title, script, style, caption') || !shown(e)) continue;
      const svg = e.closest('svg'), style = getComputedStyle(e);
      const colour = rgba(svg ? style.fill : style.color), below = svg ? beneath(e) : background(e);
      colour[3] *= opacity(e);
      const ratio = contrast(over(colour, below), below);
      ++texts;
      if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${where(e)}`);
    }
    return {faults, texts};
  };

  /// Content wider than its element, unless `may` says that the element may scroll.
  const overflowing = may => {
    const faults = [], width = document.documentElement.clientWidth;
    for (const e of document.body.querySelectorAll('*')) {
      if (!shown(e) || e.closest('caption') || (e.closest('svg') && e.tagName !== 'svg')) continue;
      const box = e.getBoundingClientRect(), style = getComputedStyle(e);
      const inline = style.display === 'inline', scrolls = e.closest('.scroll');
      if (!inline && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1 && !may(e)) faults.push(`${e.scrollWidth} wide in ${e.clientWidth}: ${where(e)}`);
      if (box.right > width + 1 && !(scrolls && may(scrolls))) faults.push(`ends at ${Math.round(box.right)} of ${width}: ${where(e)}`);
    }
    return faults;
  };
  const narrow = () => {
    const reachable = e => e.classList.contains('scroll') && e.tabIndex === 0 && e.getAttribute('role') === 'region' && e.getAttribute('aria-label') &&
        ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && getComputedStyle(e).backgroundImage.includes('gradient');
    return overflowing(reachable);
  };

  /// On paper: nothing is cut off or scrolls, the page is white, heads repeat, and rows and
  /// pictures stay whole.
  const printed = () => {
    const faults = overflowing(() => false);
    if (getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)') faults.push('the page is not white');
    for (const e of document.querySelectorAll('body *')) {
      if (!shown(e)) continue;
      const style = getComputedStyle(e), tag = e.tagName.toLowerCase();
      if (['auto', 'scroll'].includes(style.overflowX) || ['auto', 'scroll'].includes(style.overflowY)) faults.push('would print a scroll bar: ' + where(e));
      if (tag === 'thead' && style.display !== 'table-header-group') faults.push('does not repeat: ' + where(e));
      if (['tr', 'svg', 'img', 'figure'].includes(tag) && !e.closest('svg svg') && style.breakInside !== 'avoid') faults.push('may be split: ' + where(e));
      if (tag === 'section' && style.breakInside !== 'auto') faults.push('may not be split: ' + where(e));
      if (tag === 'svg' && e.querySelector('text') && e.querySelectorAll('text').length < 300) {
        const scale = e.getBoundingClientRect().width / e.viewBox.baseVal.width;
        for (const text of e.querySelectorAll('text'))
          if (parseFloat(getComputedStyle(text).fontSize) * scale < 6) { faults.push(`text of ${(parseFloat(getComputedStyle(text).fontSize) * scale).toFixed(1)} px: ${where(text)}`); break; }
      }
    }
    return faults;
  };

  /// Texts of cells that the paper must contain, without spaces. Only ASCII texts, since a PDF
  /// may change others.
  const cells = () => [...document.querySelectorAll('th, td')].filter(e => shown(e) && !e.closest('caption')).map(e => e.textContent.replace(/\s/g, '')).filter(t => t && /^[\x21-\x7e]+$/.test(t));

  /// The heads of tables on paper, without spaces.
  const heads = () => [...document.querySelectorAll('thead')].filter(shown).map(e => e.textContent.replace(/\s/g, '')).filter(t => /^[\x21-\x7e]+$/.test(t));

  /// Checks names, roles and structure.
  const structure = () => {
    const faults = [], all = selector => [...document.querySelectorAll(selector)];
    const need = (right, fault) => { if (!right) faults.push(fault); };
    need(document.documentElement.lang === 'en', 'html has no lang');
    need(document.title.startsWith('kith: ') && document.title.length > 8, 'the page has no title');
    for (const landmark of ['main', 'footer', 'h1']) need(all(landmark).length === 1, `there are ${all(landmark).length} ${landmark}`);
    need(!document.querySelector('main footer'), 'the footer lies inside of main');
    let level = 0;
    for (const heading of all('h1, h2, h3, h4')) {
      const own = Number(heading.tagName[1]);
      need(own <= level + 1, 'a level is left out before ' + where(heading));
      level = own;
    }
    need(!document.querySelector('script, link, iframe, object, embed, base, form'), 'there is an element that a report must not have');
    for (const e of all('[src], [href], [style*="url("]')) {
      const address = e.getAttribute('src') || e.getAttribute('href') || 'url';
      need(address.startsWith('data:') || address.startsWith('#'), 'needs another file: ' + address);
      need(!address.startsWith('#') || document.getElementById(address.slice(1)), 'leads nowhere: ' + address);
    }
    for (const e of all('*')) for (const attribute of e.getAttributeNames()) need(!attribute.startsWith('on'), `${attribute} of ${where(e)}`);
    for (const th of all('th')) need(['col', 'row'].includes(th.scope), 'no scope: ' + where(th));
    for (const table of all('table')) {
      need(table.caption && table.caption.textContent.trim(), 'no caption: ' + where(table));
      for (const row of table.querySelectorAll('tbody tr, tfoot tr')) if (row.cells.length > 1 && !row.querySelector('th[scope=row]')) { faults.push('a row without a name: ' + where(row)); break; }
    }
    for (const image of all('img')) need(image.alt.trim(), 'no alternative text: an image in ' + where(image.parentElement));
    for (const e of all('[role=region], nav')) need(e.getAttribute('aria-label'), 'no name: ' + where(e));
    const names = all('[role=region]').map(e => e.getAttribute('aria-label'));
    for (const name of new Set(names)) need(names.filter(n => n === name).length === 1, `several regions are called "${name}"`);
    for (const svg of all('svg')) {
      if (svg.getAttribute('aria-hidden') === 'true') continue;
      need(svg.getAttribute('role') === 'group' && svg.getAttribute('aria-label'), 'a picture without role and name: ' + where(svg));
      need(svg.closest('section').querySelector('table'), 'no table behind a picture: ' + where(svg));
    }
    const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode.data, e = walker.currentNode.parentElement;
      if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066\u2067]/.test(text)) faults.push('a control character in ' + where(e));
      if (/[\u0590-\u08ff]/.test(text) && !e.closest('bdi, pre, svg, title')) faults.push('letters from right to left turn what follows: ' + where(e));
    }
    return faults;
  };

  /// The names that titles give to marks.
  const titles = () => [...document.querySelectorAll('svg title')].filter(t => shown(t.closest('svg')) && !t.closest('[aria-hidden=true]')).map(t => t.textContent.replace(/\s+/g, ' ').trim());

  return {contrasts, narrow, printed, cells, heads, structure, titles};
})()
