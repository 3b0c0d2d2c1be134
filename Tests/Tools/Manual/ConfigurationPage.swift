/// The manual page of the configuration, generated from the sample file and its comments.
package struct ConfigurationPage {
    private let lines: [SampleLine]
    private let sample: String
    private let edition: CommandPage.Edition

    package init(_ sample: String, _ edition: CommandPage.Edition) {
        self.sample = sample
        lines = sample.split(separator: "\n", omittingEmptySubsequences: false)
            .map { SampleLine(String($0)) }
        self.edition = edition
    }

    /// The indentation of an app's keys in the sample file.
    private static let appIndent = 4

    package var text: String {
        var page = Roff(
            title: "PUSHFARM.YAML", section: 5, date: edition.date, source: "pushfarm \(edition.version)",
            manual: "Pushfarm")
        page.section("NAME")
        page.markup("pushfarm.yaml \\- configuration of pushfarm")
        page.section("DESCRIPTION")
        let header = lines.prefix { if case .entry = $0 { false } else { true } }
        for paragraph in Self.paragraphs(header) { page.paragraph(paragraph) }
        let entries = Array(lines[header.count...])
        let apps = entries.firstIndex {
            if case .entry(_, "apps", _, _) = $0 { true } else { false }
        }
        page.section("KEYS")
        Self.write(entries[..<(apps ?? entries.endIndex)], below: 0, to: &page)
        if let apps {
            page.section("KEYS OF AN APP")
            page.paragraph("Below apps, each app has its name as a key, and below that these keys.")
            Self.write(entries[(apps + 1)...], below: Self.appIndent, to: &page)
        }
        page.section("SEE ALSO")
        page.markup(Roff.bold("pushfarm") + "(1),\n" + Roff.bold("pushfarm-coordinator") + "(1)")
        return page.text
    }

    /// Joins the sentences of consecutive lines. An empty line ends a paragraph.
    private static func paragraphs(_ lines: some Sequence<SampleLine>) -> [String] {
        var paragraphs = [""]
        for line in lines {
            switch line {
            case .prose(let text): paragraphs[paragraphs.count - 1] += text + " "
            case .empty, .entry: paragraphs.append("")
            }
        }
        return paragraphs.filter { !$0.isEmpty }
    }

    private static func write(_ lines: ArraySlice<SampleLine>, below base: Int, to page: inout Roff) {
        var depth = 0
        func go(to wanted: Int) {
            while depth < wanted {
                page.request(".RS")
                depth += 1
            }
            while depth > wanted {
                page.request(".RE")
                depth -= 1
            }
        }
        var prose: [SampleLine] = []
        func flush() {
            guard !prose.isEmpty else { return }
            go(to: 0)
            for paragraph in paragraphs(prose) { page.paragraph(paragraph) }
            prose = []
        }
        for line in lines {
            switch line {
            case .prose, .empty: prose.append(line)
            case .entry(let indent, let key, let value, let remark):
                flush()
                // Keys with less indentation, such as the name of the sample's app, are skipped.
                guard indent >= base else { continue }
                go(to: (indent - base) / 2)
                let head = Roff.bold(key + ":") + (value.isEmpty ? "" : " " + Roff.italic(value))
                page.item(head, remark)
            }
        }
        flush()
        go(to: 0)
    }
}
