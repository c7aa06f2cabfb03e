/* Sphinx's search shows a section only where the query is half of its title. A learner looks for a word of it. */
"use strict"
const byPages = Search._performSearch
Search._performSearch = (query, ...rest) => {
    const found = byPages(query, ...rest)
    const { alltitles, docnames, titles, filenames } = Search._index
    const words = query.toLowerCase().split(/\s+/).filter(Boolean)
    const known = new Set(found.map(([page, , place]) => page + place))
    const sections = []
    for (const [title, places] of Object.entries(alltitles)) {
        if (!words.length || !words.every(word => title.toLowerCase().includes(word))) continue
        for (const [file, id] of places) {
            if (id === null || known.has(`${docnames[file]}#${id}`)) continue
            const name = `${titles[file]} > ${title}`
            sections.push([docnames[file], name, `#${id}`, null, 0, filenames[file], SearchResultKind.title])
        }
    }
    return [...found, ...sections.sort((a, b) => b[0].localeCompare(a[0]))] // the last one is shown first
}
