import PushModel
import RandomTesting
import Testing

@testable import DeviceSimulation

@Suite struct DeviceTimersTests {
    @Test(arguments: 1...10 as ClosedRange<UInt64>) func `timers give the due devices in order`(seed: UInt64)
    {
        var random = SplitMix(seed: seed)
        var timers = DeviceTimers()
        var model: [UInt32: ModelTime] = [:]
        let devices = 50
        for _ in 0..<devices { timers.addDevice() }
        for _ in 0..<3000 {
            let device = UInt32(random.int(in: 0...devices - 1))
            switch random.int(in: 0...3) {
            case 0:
                timers.cancel(device)
                model[device] = nil
            case 1:
                let time = ModelTime(tenths: UInt32(random.int(in: 0...100)))
                let first = model.filter { $0.value <= time }.min { ($0.value, $0.key) < ($1.value, $1.key) }
                let taken = timers.takeDue(time)
                #expect(taken?.device == first?.key && taken?.due == first?.value)
                if let first { model[first.key] = nil }
            default:
                let time = ModelTime(tenths: UInt32(random.int(in: 0...100)))
                timers.set(device, to: time)
                model[device] = time
            }
            #expect(timers.count == model.count && timers.nextDue == model.values.min())
            #expect(timers.due(of: device) == model[device])
        }
    }
}

@Suite struct SimulatedDeviceTokensTests {
    @Test func `tokens of any length are found again after the table has grown`() {
        var random = SplitMix(seed: 3)
        var tokens = SimulatedDeviceTokens()
        func hash(_ token: [UInt8]) -> UInt64 { XXH64.hash(token, seed: 9) }
        var all: [[UInt8]] = []
        for number in 0..<5000 {
            let token = random.bytes(random.int(in: 8...100)) + [UInt8(number & 255), UInt8(number >> 8)]
            #expect(token.withUnsafeBytes { tokens.find($0, hash: hash(token)) } == nil)
            #expect(
                token.withUnsafeBytes { tokens.add($0, hash: hash(token), seed: 9) } == UInt32(number))
            all.append(token)
        }
        for (number, token) in all.enumerated() {
            #expect(token.withUnsafeBytes { tokens.find($0, hash: hash(token)) } == UInt32(number))
            #expect(tokens.withToken(of: UInt32(number)) { Array($0) } == token)
        }
    }
}

@Suite struct EditionTableTests {
    @Test func `more editions, lists or longer names than the limits are refused`() {
        var table = EditionTable()
        #expect(table.list([]) == EditionList.none)
        #expect(table.list([""]) == nil)
        #expect(table.list([String(repeating: "x", count: EditionTable.longestName + 1)]) == nil)
        for number in 0..<EditionTable.mostEditions { #expect(table.list(["e\(number)"]) != nil) }
        #expect(table.list(["one more"]) == nil)
        #expect(table.list(["e1", "e1", "e2"]) == table.list(["e1", "e2"]))
        #expect(table.list(["e2", "e1"]) != table.list(["e1", "e2"]))
        var lists = 0
        for a in 0..<64 {
            for b in 0..<64 where a != b { lists += table.list(["e\(a)", "e\(b)"]) == nil ? 0 : 1 }
        }
        // The limit also counts the empty list and 64 lists with one edition.
        #expect(lists == EditionTable.mostLists - 65)
    }

    @Test func `sends are counted until the device is done`() {
        var table = EditionTable()
        let list = table.list(["a", "b"])!
        for _ in 0..<300 { table.countSend(list, to: 5) }
        table.countSend(list, to: 2)
        let first = table.nextEdition(of: list, for: 2)!
        #expect(table.finish(first, by: 2) == 1)
        table.countSend(list, to: 2)
        #expect(table.nextEdition(of: list, for: 2)?.number == 1)
        #expect(table.finish(Edition(number: 1), by: 2) == 2)
        #expect(table.nextEdition(of: list, for: 2) == nil)
        #expect(table.finish(first, by: 5) == EditionTable.mostSends)
        #expect(table.entries.map(\.devices) == [2, 2] && table.entries.map(\.done) == [2, 1])
    }
}

@Suite struct DevicePayloadTests {
    @Test(
        arguments: [
            (#"{"aps":{"content-available":1},"edition":"ed-1"}"#, true, false, ["ed-1"]),
            (#"{"edition":["a","b"],"aps":{"alert":"x","mutable-content":1}}"#, false, true, ["a", "b"]),
            (#"{"aps":{"content-available":0,"mutable-content":true},"edition":7}"#, false, false, []),
            (#"{"aps":{"content-available":1.5},"edition":[1,"a",{"edition":"x"}]}"#, false, false, ["a"]),
            (#"{"aps":7,"edition":"é\n"}"#, false, false, ["é\n"]),
            (#"{"deep":{"edition":"x","aps":{"content-available":1}}}"#, false, false, []),
            (#"{"aps":{"content-available":1},"edition":"a"} x"#, false, false, []),
            (#"["edition"]"#, false, false, []), ("", false, false, []), (#"{"edition":"#, false, false, []),
        ])
    func `reads the parts that matter to a device`(
        text: String, isContentAvailable: Bool, isMutable: Bool, editions: [String]
    ) {
        let payload = Array(text.utf8).withUnsafeBytes { DevicePayload($0, editionKey: "edition") }
        #expect(payload.isContentAvailable == isContentAvailable && payload.isMutable == isMutable)
        #expect(payload.editions == editions)
    }

    @Test func `the key of the editions can be chosen, and a payload has at most 16 editions`() {
        let text =
            #"{"edition":"x","campaign":["# + (0..<40).map { "\"\($0)\"" }.joined(separator: ",") + "]}"
        let payload = Array(text.utf8).withUnsafeBytes { DevicePayload($0, editionKey: "campaign") }
        #expect(payload.editions == (0..<16).map { "\($0)" })
    }
}

@Suite struct DeviceReportTests {
    @Test func `the minutes of a week are kept, and the peak second`() {
        var counts = SimulatedDeviceCounts()
        func ask(_ seconds: Double) {
            counts.add(DeviceAction(time: .seconds(seconds), device: 0, kind: .askPublisher))
        }
        for second in [1.0, 1.5, 1.9, 2, 61] { ask(second) }
        #expect(counts.minutes.map(\.apiRequests) == [4, 1])
        #expect(counts.minutes.map(\.mostAPIRequests) == [3, 1])
        #expect(counts.peak.requests == 3 && counts.peak.at == .seconds(1))
        ask(Double(SimulatedDeviceCounts.mostMinutes * 60))
        #expect(counts.firstMinute == 1 && counts.minutes.count == SimulatedDeviceCounts.mostMinutes)
        ask(Double(5 * SimulatedDeviceCounts.mostMinutes * 60))
        #expect(counts.minutes.count == 1 && counts.apiRequests == 7)
    }

    @Test func `reports name times of the model's day`() {
        var test = TestFleet(startsAt: .seconds(23 * 3600 + 59 * 60))
        test.push(at: .seconds(30))
        _ = test.advance(to: .seconds(90))
        #expect(
            test.fleet.minutesReport()
                == #"{"ok":true,"minutes":[{"minute":"0 23:59:00","wake_ups":1,"api_requests":1,"#
                + #""most_api_requests_a_second":1,"done":1}]}"#)
        let token = String(repeating: "0", count: 64)
        #expect(
            test.fleet.doneReport(from: 0, count: 9)
                == #"{"ok":true,"next":1,"total":1,"done":[{"edition":"e","token":"\#(token)","sends":1,"#
                + #""model_time":"0 23:59:43"}]}"#)
        for (place, count) in [(1, 5), (99, 5), (-4, 0), (.max, .max)] {
            let report = test.fleet.doneReport(from: place, count: count)
            #expect(report.hasSuffix(#""done":[]}"#), "\(report)")
        }
        let summary = test.fleet.summary(at: .seconds(90))
        #expect(summary.contains(#""model_time":"1 00:00:30","devices":1,"#), "\(summary)")
        #expect(
            summary.contains(#""editions":[{"edition":"e","devices":1,"done":1,"done_by_sends":{"1":1}}]"#))
    }
}
