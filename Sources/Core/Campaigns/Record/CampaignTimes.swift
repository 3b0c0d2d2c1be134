/// When the pushes of a campaign were accepted, and when its devices reported that they were done.
///
/// The scripts count in spans of ten minutes, and in spans of an hour when a day has passed since the first push was due.
package struct CampaignTimes: Hashable, Sendable {
    package struct Span: Hashable, Sendable {
        /// When the span began, in Unix milliseconds.
        package let start: Int64
        /// Pushes that were accepted in the span, and merged pushes with the campaign's content.
        package var sent = 0
        /// Devices that reported in the span that they are done.
        package var done = 0
    }

    /// The spans in which something was counted, in order of time.
    package let spans: [Span]

    /// Reads the fields `sent_at:T` and `done_at:T` of a record, with T in Unix milliseconds. Other fields, and values that are no numbers,
    /// are left out.
    package init(fields: some Sequence<(String, String)>) {
        var spans: [Int64: Span] = [:]
        for (name, value) in fields {
            let parts = name.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let start = Int64(foreign: parts[1]), let number = Int(foreign: value)
            else {
                continue
            }
            switch parts[0] {
            case "sent_at": spans[start, default: Span(start: start)].sent = max(0, number)
            case "done_at": spans[start, default: Span(start: start)].done = max(0, number)
            default: continue
            }
        }
        self.spans = spans.values.sorted { $0.start < $1.start }
    }

    /// The spans joined to at most `most`, which must be at least 1: neighbours in equal numbers.
    package func joined(to most: Int) -> [Span] {
        let size = (spans.count + most - 1) / most
        guard size > 1 else { return spans }
        return stride(from: 0, to: spans.count, by: size).map { first in
            spans[first..<min(first + size, spans.count)].dropFirst().reduce(into: spans[first]) {
                $0.sent = $0.sent.adding(saturating: $1.sent)
                $0.done = $0.done.adding(saturating: $1.done)
            }
        }
    }
}
