import PushModel
import Scheduling

/// What a run has done so far. Each step stores it as one JSON text in the campaign's record, so that another process can take the
/// campaign over.
package struct CampaignProgress: Equatable, Sendable {
    package internal(set) var groups: [GroupProgress]

    /// The number of marks that the text has in all groups, about.
    private static let storedMarks = 64
    /// The largest number of groups that is read.
    static let mostGroups = 2_000

    init(groups: [GroupProgress]) { self.groups = groups }

    // MARK: Text

    /// The JSON text. It has only some of the marks of the run in memory, so a round may be a little late after a takeover.
    package var json: [UInt8] {
        let marks = max(2, Self.storedMarks / max(1, groups.count))
        var text = JSONText()
        text.object { text in
            text.key("groups")
            text.array { text in
                for group in groups { Self.write(group, marks: marks, &text) }
            }
        }
        return text.bytes
    }

    private static func write(_ group: GroupProgress, marks: Int, _ text: inout JSONText) {
        text.object { text in
            if let zone = group.zone { text.member("zone", zone) }
            switch group.phase {
            case .waiting(let time): text.member("waits_from", time.milliseconds)
            case .gated(let time): text.member("gated_since", time.milliseconds)
            case .finished: text.member("finished", true)
            case .sending: break
            }
            text.member("round", group.round)
            text.member("rounds", group.rounds)
            text.member("stage", group.stage)
            text.member("counted", group.counted)
            text.member("handled", group.handled)
            if group.ahead > 0 { text.member("ahead", group.ahead) }
            guard !group.isFinished else { return }
            text.member("began", group.began.milliseconds)
            text.member("planned_end", group.plannedEnd.milliseconds)
            text.member("needed", group.needed)
            text.member("sweeps", group.sweeps)
            text.key("cursor")
            text.array { write(group.cursor, &$0) }
            write("marks", group.marks, most: marks, &text)
            write("earlier_marks", group.earlierMarks, most: marks, &text)
        }
    }

    private static func write(_ cursor: SendCursor, _ text: inout JSONText) {
        for number in [cursor.cohort, cursor.chunk.partition, cursor.chunk.number, cursor.ordinal] {
            text.value(number)
        }
    }

    private static func write(_ name: String, _ marks: SendMarks, most: Int, _ text: inout JSONText) {
        var marks = marks
        marks.thin(to: most)
        guard !marks.marks.isEmpty else { return }
        text.key(name)
        text.array { text in
            for mark in marks.marks {
                text.array { text in
                    write(mark.cursor, &text)
                    text.value(mark.time.milliseconds)
                }
            }
        }
    }

    // MARK: Reading

    /// Reads a text that ``json`` wrote; nil for other texts.
    package init?(json: [UInt8]) {
        guard let tree = try? JSONTree(json), let list = tree["groups"]?.elements, !list.isEmpty,
            list.count <= Self.mostGroups
        else { return nil }
        var groups: [GroupProgress] = []
        for element in list {
            guard let group = Self.group(element) else { return nil }
            groups.append(group)
        }
        self.groups = groups
    }

    private static func group(_ tree: JSONTree) -> GroupProgress? {
        func time(_ name: String) -> UTCTime? { tree[name]?.integer.map { UTCTime(milliseconds: $0) } }
        func number(_ name: String) -> Int? {
            tree[name]?.integer.flatMap { (0...(1 << 40)).contains($0) ? Int($0) : nil }
        }
        var phase = GroupProgress.Phase.sending
        if let from = time("waits_from") { phase = .waiting(from: from) }
        if let since = time("gated_since") { phase = .gated(since: since) }
        if tree["finished"] != nil { phase = .finished }
        var group = GroupProgress(zone: tree["zone"]?.text, phase: phase)
        guard let round = number("round"), round > 0, let rounds = number("rounds"),
            let stage = number("stage"),
            let counted = number("counted"), let handled = number("handled")
        else { return nil }
        (group.round, group.rounds, group.stage) = (round, rounds, stage)
        (group.counted, group.handled, group.ahead) = (counted, handled, number("ahead") ?? 0)
        guard !group.isFinished else { return group }
        guard let began = time("began"), let end = time("planned_end"), let needed = number("needed"),
            let sweeps = number("sweeps"), let cursor = tree["cursor"].flatMap({ Self.cursor($0.elements) })
        else { return nil }
        (group.began, group.plannedEnd, group.needed) = (began, end, Int64(needed))
        (group.sweeps, group.cursor) = (sweeps, cursor)
        group.marks = SendMarks(tree["marks"]?.elements.compactMap(Self.mark) ?? [])
        group.earlierMarks = SendMarks(tree["earlier_marks"]?.elements.compactMap(Self.mark) ?? [])
        return group
    }

    private static func cursor(_ elements: [JSONTree]) -> SendCursor? {
        let numbers = elements.compactMap(\.integer).filter { (0...65_536).contains($0) }.map { Int($0) }
        guard numbers.count == 4, elements.count == 4 else { return nil }
        return SendCursor(
            cohort: numbers[0], chunk: AudienceChunk(partition: numbers[1], number: numbers[2]),
            ordinal: numbers[3])
    }

    private static func mark(_ tree: JSONTree) -> SendMarks.Mark? {
        let elements = tree.elements
        guard elements.count == 5, let cursor = cursor(Array(elements[..<4])), let time = elements[4].integer
        else { return nil }
        return SendMarks.Mark(cursor: cursor, time: UTCTime(milliseconds: time))
    }
}
