import ControlChannel
import EventLoop
import StoreProtocol

/// The metrics of an app's stored devices and campaigns. The host with the app's intake reports them.
@Loop struct CampaignMetrics {
    /// The app's label in the metrics.
    let label: String
    let numbers: IntakeNotice.Heartbeat.App

    private var labels: MetricsPage.Labels { ["app": label] }

    func add(to page: inout MetricsPage) {
        addDevices(numbers.devices, to: &page)
        page.add(
            "pushfarm_recipient_lookups_total", "Users and devices whose tokens were looked up for jobs.",
            numbers.lookups, labels)
        let campaigns = numbers.campaigns
        for state in IntakeNotice.Heartbeat.Campaign.State.allCases {
            let count =
                switch state {
                case .scheduled: campaigns.scheduled
                case .running: campaigns.running
                case .paused: campaigns.paused
                }
            page.add(
                "pushfarm_campaigns", "Campaigns that are started and not over, by state.", count,
                ["app": label, "state": state.name])
        }
        page.add(
            "pushfarm_late_campaigns", "Running campaigns that cannot send all pushes in their windows.",
            campaigns.late, labels)
        for count in numbers.campaignDevices {
            page.add(
                "pushfarm_campaign_devices_total", "Devices that campaigns have handled, by count.",
                count.number, ["app": label, "count": count.name])
        }
    }

    private func addDevices(_ devices: IntakeNotice.Heartbeat.Devices, to page: inout MetricsPage) {
        page.add(
            "pushfarm_registry_up", "1 while the Redis with the stored devices is reachable.",
            devices.isRegistryUp, labels)
        if let stored = devices.stored {
            page.add("pushfarm_devices", "Stored devices.", stored, labels)
        }
        if let alive = devices.alive {
            page.add(
                "pushfarm_alive_devices", "Stored devices that can get pushes.", alive, labels)
        }
        let applied = devices.inputs - min(devices.inputs, devices.refused)
        for (result, count) in [("applied", applied), ("refused", devices.refused)] {
            page.add(
                "pushfarm_device_inputs_total", "Device inputs that the intake has finished, by result.",
                count, ["app": label, "result": result])
        }
    }

    /// Adds the numbers of inputs that wait for the intake.
    static func add(waiting inputs: [InputList: Int], label: String, to page: inout MetricsPage) {
        for list in InputList.allCases {
            page.add(
                "pushfarm_waiting_inputs", "Inputs in a list that the intake has not taken yet.",
                inputs[list] ?? 0, ["app": label, "list": list.rawValue])
        }
    }
}

extension IntakeNotice.Heartbeat.Campaign.State {
    /// The state in metrics and in the host's status.
    var name: String {
        switch self {
        case .scheduled: "scheduled"
        case .running: "running"
        case .paused: "paused"
        }
    }
}
