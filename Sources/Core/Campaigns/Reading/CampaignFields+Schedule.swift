import PushModel
import Scheduling
import Variants

/// The fields that say when and how fast the campaign sends.
extension CampaignFields {
    /// - Parameter variants: the campaign's variants. Their exploration is the first stage.
    func schedule(_ variants: CampaignVariants?) throws(CampaignError) -> CampaignSchedule {
        let start = try start()
        let window = try window()
        let repetition = try repetition()
        let spread = try spread(hasPeriod: window != nil || repetition != nil)
        let (avoid, quiet) = (try avoid(), try limits().quiet)
        let exploration = variants?.policy.exploration
        let stages = if let exploration { Self.stages(exploration) } else { try stages() }
        let cohorts = try self[.cohorts]?.integer(in: 1...Int64(CampaignSchedule.limits.cohorts)) ?? 1
        do throws(ScheduleError) {
            return try CampaignSchedule(
                start: start, window: window, spread: spread, avoid: avoid,
                quiet: try quiet?.hours(), stages: stages, repetition: repetition, cohorts: cohorts)
        } catch { throw refusal(error) }
    }

    private func refusal(_ error: ScheduleError) -> CampaignError {
        CampaignError(
            field: error.field.rawValue,
            position: fields[error.field.rawValue]?.position ?? fields.value.position,
            reason: "\"\(error.field.rawValue)\": \(error.reason)")
    }

    private func start() throws(CampaignError) -> CampaignSchedule.Start {
        guard let value = self[.startAt] else { return .now }
        let what =
            "a date like \"2026-05-01\", a time like \"2026-05-01T10:00:00Z\", or whole Unix seconds"
        if let text = value.tree.text {
            let moment: Int64
            do throws(TimeText.Fault) { moment = try TimeText.readMoment(text) } catch {
                throw value.error(mustBe: what, advice: error.advice)
            }
            guard text.contains("T") else {
                return .on(CivilDate(dayNumber: moment.dividedDown(by: 86_400_000).quotient))
            }
            return .at(UTCTime(milliseconds: moment))
        }
        guard let seconds = value.tree.integer, (0...JobLimits.lastSecond).contains(seconds) else {
            throw value.error(mustBe: what)
        }
        return .at(UTCTime(seconds: seconds))
    }

    private func window() throws(CampaignError) -> CampaignWindow? {
        guard let value = self[.window] else { return nil }
        let object = try FieldObject(
            value, path: "window.", names: ["from", "to", "zone"],
            mustBe: "an object such as {\"from\": \"05:00\", \"to\": \"07:00\", \"zone\": \"device\"}")
        let from = try Self.timeOfDay(object.required("from", path: "window."))
        let to = try Self.timeOfDay(object.required("to", path: "window."))
        var zone = CampaignWindow.Zone.device
        if let name = object["zone"], name.tree.text != "device" { zone = .named(try self.zone(name)) }
        do throws(ScheduleError) { return try CampaignWindow(from: from, to: to, zone: zone) } catch {
            throw value.error("\"window\": \(error.reason)")
        }
    }

    static func timeOfDay(_ value: FieldValue) throws(CampaignError) -> TimeOfDay {
        let what = "a time of day from \"00:00\" to \"24:00\""
        guard let time = TimeOfDay(try value.text(mustBe: what)) else { throw value.error(mustBe: what) }
        return time
    }

    /// - Parameter hasPeriod: whether the campaign has a window or repeats, so that pushes can be spread evenly over it.
    private func spread(hasPeriod: Bool) throws(CampaignError) -> CampaignSchedule.Spread {
        try exclude(.spread, .rate)
        if let rate = self[.rate] {
            return .rate(
                try rate.number(
                    above: 0, upTo: CampaignSchedule.greatestRate,
                    mustBe: "a number of pushes a second above 0 and up to 10000000"))
        }
        guard let value = self[.spread] else {
            return hasPeriod ? .evenly : .rate(CampaignSchedule.greatestRate)
        }
        if value.tree.text == "evenly" { return .evenly }
        return .over(
            milliseconds: try value.duration(
                in: 1000...CampaignSchedule.longest,
                mustBe: "\"evenly\", or a duration from 1 second to 31 days like \"45m\""))
    }

    private func avoid() throws(CampaignError) -> AvoidedMinutes {
        guard let value = self[.avoid] else { return .none }
        var minutes: [Int] = []
        for element in try value.elements(atMost: 59, of: "minutes of the hour, such as [0, 30]") {
            minutes.append(try element.integer(in: 0...59))
        }
        do throws(ScheduleError) { return try AvoidedMinutes(minutes) } catch { throw refusal(error) }
    }

    private func stages() throws(CampaignError) -> [CampaignSchedule.Stage] {
        guard let value = self[.stages] else { return [] }
        let what = "shares such as [\"1 %\", \"10 %\", \"100 %\"]"
        let elements = try value.elements(atMost: CampaignSchedule.limits.stages, of: what)
        guard !elements.isEmpty else {
            throw value.error("\"stages\" is empty; leave the field out for no stages")
        }
        var stages: [CampaignSchedule.Stage] = []
        for (index, element) in elements.enumerated() {
            stages.append(try stage(element, isLast: index == elements.count - 1))
        }
        return stages
    }

    /// The stages of an exploration: its share of the audience, and then all devices.
    private static func stages(_ exploration: LearningPolicy.Exploration) -> [CampaignSchedule.Stage] {
        [
            CampaignSchedule.Stage(
                share: exploration.share, gate: .wait(milliseconds: exploration.wait)),
            CampaignSchedule.Stage(share: 1, gate: .resume),
        ]
    }

    /// Reads a share, or an object with a share and what follows the stage. A stage that says nothing waits for `resume`.
    private func stage(
        _ value: FieldValue, isLast: Bool
    ) throws(CampaignError) -> CampaignSchedule.Stage {
        guard value.tree.kind == .object else {
            return CampaignSchedule.Stage(share: try value.share(), gate: .resume)
        }
        let path = value.name + "."
        let object = try FieldObject(
            value, path: path, names: ["share", "wait"],
            mustBe: "a share such as \"10 %\", or an object such as {\"share\": \"10 %\", \"wait\": \"30m\"}")
        let share = try object.required("share", path: path).share()
        guard let wait = object["wait"] else {
            return CampaignSchedule.Stage(share: share, gate: .resume)
        }
        guard !isLast else {
            throw wait.error("\"\(wait.name)\": no stage follows the last one; leave it out")
        }
        if wait.tree.text == "resume" { return CampaignSchedule.Stage(share: share, gate: .resume) }
        let time = try wait.duration(
            in: 0...CampaignSchedule.longest, mustBe: "\"resume\", or a duration up to 31 days like \"30m\"")
        return CampaignSchedule.Stage(share: share, gate: .wait(milliseconds: time))
    }

    private func repetition() throws(CampaignError) -> CampaignSchedule.Repetition? {
        guard let value = self[.repeat] else { return nil }
        let object = try FieldObject(
            value, path: "repeat.", names: ["every", "until", "max"],
            mustBe: "an object such as {\"every\": \"25m\", \"until\": \"done\", \"max\": 4}")
        let every = try object.required("every", path: "repeat.").duration(
            in: CampaignSchedule.leastEvery...CampaignSchedule.longest,
            mustBe: "a duration from 1 minute to 31 days like \"25m\"")
        if let until = object["until"] {
            guard until.tree.text == "done" else { throw until.error(mustBe: "\"done\"") }
            guard self[.list] == nil else {
                throw until.error("rows of a list have no ids of devices, so they cannot report \"done\"")
            }
        }
        let max = try object["max"]?.integer(in: 1...Int64(CampaignSchedule.limits.rounds))
        return CampaignSchedule.Repetition(every: every, max: max ?? CampaignSchedule.limits.rounds)
    }
}
