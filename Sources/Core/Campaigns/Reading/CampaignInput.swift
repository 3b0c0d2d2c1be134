import PushModel

/// An entry of the list in which producers put campaigns.
package enum CampaignInput: Equatable, Sendable {
    /// An operator changed the campaign with this id. The farm's own commands write this input.
    case changed(id: String)
    /// The definition of a new campaign, which is not checked yet.
    case definition

    /// The name of the only field of a notice.
    static let changedField = "changed"

    /// Distinguishes the two kinds of inputs. Every text that is not a notice is a definition.
    package init(_ bytes: [UInt8]) {
        guard let tree = try? JSONTree(bytes), case .object(let members) = tree.content, members.count == 1,
            members[0].name == Self.changedField, let id = members[0].value.text
        else {
            self = .definition
            return
        }
        self = .changed(id: id)
    }
}

/// A report that devices are done with a campaign: `{"campaign": "ed-1", "devices": ["d-1", "d-2"]}`.
package struct DoneReport: Equatable, Sendable {
    package let campaign: String
    /// The ids of the devices.
    package let devices: [String]

    /// The maximum number of devices of one report.
    package static let mostDevices = 10_000
    /// The maximum length of a report in bytes.
    package static let longest = 1 << 20

    private static let campaignField = "campaign"
    private static let devicesField = "devices"

    package init(campaign: String, devices: [String]) { (self.campaign, self.devices) = (campaign, devices) }

    /// The report as JSON, as producers write it.
    package var json: [UInt8] {
        let (campaign, devices) = (campaign, devices)
        var json = JSONText(capacity: 64 + devices.count * 24)
        json.object { json in
            json.key(Self.campaignField)
            json.value(campaign)
            json.key(Self.devicesField)
            json.array { json in for device in devices { json.value(device) } }
        }
        return json.bytes
    }

    /// Reads a report.
    /// - Throws: the first fault, with its field and position.
    package init(_ bytes: [UInt8]) throws(CampaignError) {
        let tree: JSONTree
        do throws(JSONError) { tree = try JSONTree(bytes) } catch {
            throw CampaignError(
                field: "report", position: error.position,
                reason: "the report is not valid JSON: \(error.description)")
        }
        let object = try FieldObject(
            FieldValue(name: "report", tree: tree, bytes: bytes), path: "",
            names: [Self.campaignField, Self.devicesField],
            mustBe: "a JSON object with \"campaign\" and \"devices\"")
        campaign = try object.required(Self.campaignField, path: "").text(
            mustBe: CampaignIdentity.idRule, CampaignIdentity.isID)
        let list = try object.required(Self.devicesField, path: "")
        guard case .array(let elements) = list.tree.content, elements.count <= Self.mostDevices else {
            throw list.error(mustBe: "a list of at most \(Self.mostDevices) device ids")
        }
        var devices: [String] = []
        devices.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            let value = FieldValue(name: "\(Self.devicesField)[\(index)]", tree: element, bytes: bytes)
            devices.append(try value.text(mustBe: "the id of a device", { !$0.isEmpty }))
        }
        self.devices = devices
    }
}
