import PushModel
import Scheduling

/// The fields that limit and repeat campaigns as a whole.
extension CampaignFields {
    func limits() throws(CampaignError) -> CampaignLimits {
        CampaignLimits(
            category: try name(.category), caps: try caps(), quiet: try quiet(),
            stopAt: try self[.stopAt]?.share())
    }

    private func caps() throws(CampaignError) -> [CampaignLimits.Cap] {
        guard let value = self[.caps] else { return [] }
        var caps: [CampaignLimits.Cap] = []
        let what = "objects such as {\"pushes\": 3, \"per\": \"day\"}"
        for element in try value.elements(atMost: CapPeriod.allCases.count, of: what) {
            let path = element.name + "."
            let object = try FieldObject(
                element, path: path, names: ["pushes", "per"],
                mustBe: "an object such as {\"pushes\": 3, \"per\": \"day\"}")
            let pushes = try object.required("pushes", path: path)
                .integer(in: 1...Int64(CampaignLimits.greatestCap))
            let per = try object.required("per", path: path)
            let word = try per.word(among: CapPeriod.allCases.map(\.rawValue))
            guard let period = CapPeriod(rawValue: word), !caps.contains(where: { $0.period == period })
            else {
                throw per.error("\"\(per.name)\" is \"\(word)\", for which there is a cap already")
            }
            caps.append(CampaignLimits.Cap(pushes: pushes, period: period))
        }
        return caps
    }

    private func quiet() throws(CampaignError) -> CampaignLimits.Quiet? {
        guard let value = self[.quiet] else { return nil }
        let object = try FieldObject(
            value, path: "quiet.", names: ["from", "to"],
            mustBe: "an object such as {\"from\": \"22:00\", \"to\": \"07:00\"}")
        let quiet = CampaignLimits.Quiet(
            from: try Self.timeOfDay(object.required("from", path: "quiet.")),
            to: try Self.timeOfDay(object.required("to", path: "quiet.")))
        guard quiet.from.minutes % 1440 != quiet.to.minutes % 1440 else {
            throw value.error("\"quiet\" starts and ends at \(quiet.from), so no time would be left")
        }
        return quiet
    }

    func recurrence() throws(CampaignError) -> CronExpression? {
        guard let value = self[.cron] else { return nil }
        try exclude(.startAt, .cron)
        if let id = self[.id] {
            let rule =
                "a name with at most \(RunCalendar.longestID) letters, digits and _.-, because the runs of the campaign add their time to it"
            _ = try id.text(mustBe: rule) {
                CampaignIdentity.isName($0) && $0.utf8.count <= RunCalendar.longestID
            }
        }
        let text = try value.text(mustBe: "a cron expression such as \"30 5 * * mon-sat\"")
        do throws(CronError) { return try CronExpression(text) } catch {
            throw value.error("\"cron\": \(error.description)")
        }
    }
}
