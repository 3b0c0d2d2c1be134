import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// Cases of the scripts that take and finish device inputs.
extension ScriptCase {
    static let devices = takenDevices + triedDevices + finishedDevices + otherLists

    private static let takenDevices = [
        ScriptCase("takes device inputs up to the limit of inputs", again: .same) { fixture in
            try fixture.perform(PushInputs(.devices, ["a", "b", "c"].map { Array($0.utf8) }))
            return takeDevices(fixture, most: 2)
        },
        ScriptCase("returns the taken device inputs first", again: .same) { fixture in
            try fixture.takeDevices("a", "b")
            try fixture.perform(PushInputs(.devices, [Array("c".utf8)]))
            return takeDevices(fixture, most: 3)
        },
        ScriptCase("takes device inputs up to the limit of bytes", again: .same) { fixture in
            try fixture.perform(PushInputs(.devices, ["aaa", "bbb", "c"].map { Array($0.utf8) }))
            return TakeInputs(.devices, token: fixture.token, maxInputs: 9, maxBytes: 6, maxInputBytes: 10)
        },
        ScriptCase("takes no device input when there is none", again: .same) { fixture in
            takeDevices(fixture, most: 2)
        },
        ScriptCase("refuses a device input that is too large", again: .other("[0, 0, a, b]")) { fixture in
            try fixture.perform(
                PushInputs(.devices, ["a", String(repeating: "x", count: 11), "b"].map { Array($0.utf8) }))
            return takeDevices(fixture, most: 9)
        },
        ScriptCase("keeps 64 KiB of a device input that is too large", again: .other("[0, 0]")) { fixture in
            try fixture.perform(PushInputs(.devices, [[UInt8](repeating: UInt8(ascii: "x"), count: 65_540)]))
            return takeDevices(fixture, most: 9)
        },
        ScriptCase("refuses the first taken device input if it is too large", again: .other("[0, 0, b]")) {
            fixture in
            try fixture.run(["RPUSH", app + "devices_taken", String(repeating: "x", count: 11), "b"])
            return takeDevices(fixture, most: 9)
        },
        ScriptCase("lets a large device input wait for the inputs before it", again: .same) { fixture in
            try fixture.run(["RPUSH", app + "devices_taken", "a", String(repeating: "x", count: 11), "b"])
            try fixture.perform(PushInputs(.devices, [Array("c".utf8)]))
            return takeDevices(fixture, most: 9)
        },
        ScriptCase("refuses at most 64 large device inputs in a call", again: .next) { fixture in
            let large = Array(String(repeating: "x", count: 11).utf8)
            try fixture.perform(PushInputs(.devices, Array(repeating: large, count: 65) + [Array("a".utf8)]))
            return takeDevices(fixture, most: 9)
        },
        ScriptCase("reports the end of a flood of refused device inputs", again: .same) { fixture in
            try fixture.floodDevices(written: 100, pending: 7, age: 1000)
            return takeDevices(fixture, most: 9)
        },
        ScriptCase("reports no flood of device inputs within a second", again: .same) { fixture in
            try fixture.floodDevices(written: 100, pending: 7, age: -30_000)
            return takeDevices(fixture, most: 9)
        },
    ]

    private static let triedDevices = [
        ScriptCase("tries the first taken device input alone", again: .same) { fixture in
            try fixture.takeDevices("a", "b")
            try fixture.perform(PushInputs(.devices, [Array("c".utf8)]))
            return takeDevices(fixture, most: 9, by: "p1")
        },
        ScriptCase("counts a second process that tries the device input", again: .same) { fixture in
            try fixture.takeDevices("a", "b")
            _ = try fixture.perform(takeDevices(fixture, most: 9, by: "p1"))
            return takeDevices(fixture, most: 9, by: "p2")
        },
        ScriptCase("tries no device input that is not taken", again: .same) { fixture in
            try fixture.perform(PushInputs(.devices, [Array("c".utf8)]))
            return takeDevices(fixture, most: 9, by: "p1")
        },
        ScriptCase("refuses a device input that three processes did not survive", again: .next) { fixture in
            try fixture.takeDevices("a", "b")
            for process in ["p1", "p2", "p3"] {
                _ = try fixture.perform(takeDevices(fixture, most: 9, by: process))
            }
            return takeDevices(fixture, most: 9, by: "p4")
        },
        ScriptCase("forgets the tries of a process that survives", again: .same) { fixture in
            try fixture.takeDevices("a", "b")
            _ = try fixture.perform(takeDevices(fixture, most: 9, by: "p1"))
            return takeDevices(fixture, most: 0)
        },
        ScriptCase("forgets the tries of a finished device input", again: .other("[0, 0]")) { fixture in
            try fixture.takeDevices("a", "b")
            _ = try fixture.perform(takeDevices(fixture, most: 9, by: "p1"))
            return FinishInputs(.devices, token: fixture.token, step: 1, finished: 1)
        },
    ]

    private static let finishedDevices = [
        ScriptCase("removes finished device inputs", again: .other("[0, 0]")) { fixture in
            try fixture.takeDevices("a", "b", "c")
            return FinishInputs(.devices, token: fixture.token, step: 1, finished: 2)
        },
        ScriptCase("records refused device inputs", again: .other("[0, 0]")) { fixture in
            try fixture.takeDevices("a", "bad", "worse", "d")
            return FinishInputs(
                .devices, token: fixture.token, step: 1, finished: 3,
                refused: [
                    .init(index: 1, subject: "d-1", field: "zone", position: 17, reason: "no zone"),
                    .init(index: 2, subject: nil, field: "device", position: 0, reason: "no object"),
                ])
        },
        ScriptCase("counts a refused device input of a flood", again: .other("[0, 0]")) { fixture in
            try fixture.takeDevices("bad")
            try fixture.floodDevices(written: 100, pending: 7, age: -30_000)
            return FinishInputs(
                .devices, token: fixture.token, step: 1, finished: 1,
                refused: [.init(index: 0, subject: "d", field: "id", position: 0, reason: "x")])
        },
        ScriptCase("reports one refused device input for all since the last event", again: .other("[0, 0]")) {
            fixture in
            try fixture.takeDevices("bad")
            try fixture.floodDevices(written: 100, pending: 7, age: 1000)
            return FinishInputs(
                .devices, token: fixture.token, step: 1, finished: 1,
                refused: [.init(index: 0, subject: "d", field: "id", position: 0, reason: "x")])
        },
        ScriptCase("finishes no more device inputs than are taken", again: .refused("error TAKEN 1")) {
            fixture in
            try fixture.takeDevices("a")
            return FinishInputs(.devices, token: fixture.token, step: 1, finished: 2)
        },
        ScriptCase("finishes device inputs in the order of steps", again: .refused("error STEP 0")) {
            fixture in
            try fixture.takeDevices("a")
            return FinishInputs(.devices, token: fixture.token, step: 2, finished: 1)
        },
    ]

    private static let otherLists = InputList.allCases.dropFirst().flatMap { list in
        [
            ScriptCase("takes inputs of the list \(list.rawValue)", again: .same) { fixture in
                try fixture.perform(PushInputs(list, ["a", "b"].map { Array($0.utf8) }))
                return TakeInputs(
                    list, token: fixture.token, maxInputs: 1, maxBytes: 1000, maxInputBytes: 10)
            },
            ScriptCase("records a refused input of the list \(list.rawValue)", again: .other("[0, 0]")) {
                fixture in
                try fixture.run(["RPUSH", app + list.rawValue + "_taken", "a", "b"])
                return FinishInputs(
                    list, token: fixture.token, step: 1, finished: 1,
                    refused: [.init(index: 0, subject: "c", field: "id", position: 3, reason: "x")])
            },
        ]
    }

    private static func takeDevices(_ fixture: StoreFixture, most: Int, by process: String? = nil)
        -> TakeInputs
    {
        TakeInputs(
            .devices, token: fixture.token, maxInputs: most, maxBytes: 1000, maxInputBytes: 10,
            triedBy: process)
    }
}

extension StoreFixture {
    /// Pushes device inputs and takes them.
    func takeDevices(_ inputs: String...) throws {
        try perform(PushInputs(.devices, inputs.map { Array($0.utf8) }))
        _ = try perform(TakeInputs(.devices, token: token, maxInputs: 99, maxBytes: 9999, maxInputBytes: 99))
    }

    /// Makes a flood of refused device inputs.
    ///
    /// - Parameters:
    ///   - written: the events of this minute.
    ///   - pending: the refused inputs without an event.
    ///   - age: the time since the last event, in milliseconds.
    func floodDevices(written: Int, pending: Int, age: Int64) throws {
        let now = try redis.run("TIME").time ?? 0
        try run([
            "HSET", "{pushfarm:demo}:device_intake", "since", "\(now)", "minute", "\(written + pending)",
            "events", "\(written)", "last_event_at", "\(now - age)", "pending_refused", "\(pending)",
            "refused", "\(written + pending)",
        ])
    }
}
