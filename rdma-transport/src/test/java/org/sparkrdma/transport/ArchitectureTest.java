/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The rooms of this module and the arrows between them. Rooms that are still empty are tolerated. */
@AnalyzeClasses(packages = "org.sparkrdma.transport", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String ROOT = "org.sparkrdma.transport.";

    @ArchTest
    static final ArchRule arrows = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .withOptionalLayers(true)
            .layer("api")
            .definedBy(ROOT + "api..")
            .layer("wire")
            .definedBy(ROOT + "wire..")
            .layer("memory")
            .definedBy(ROOT + "memory..")
            .layer("verbs")
            .definedBy(ROOT + "verbs..")
            .layer("rdma")
            .definedBy(ROOT + "rdma..")
            .layer("shm")
            .definedBy(ROOT + "shm..")
            .layer("select")
            .definedBy(ROOT + "select..")
            .whereLayer("api")
            .mayNotAccessAnyLayer()
            .whereLayer("wire")
            .mayOnlyAccessLayers("api")
            .whereLayer("memory")
            .mayOnlyAccessLayers("api")
            .whereLayer("verbs")
            .mayOnlyAccessLayers("api", "memory")
            .whereLayer("rdma")
            .mayOnlyAccessLayers("verbs", "memory", "wire", "api")
            .whereLayer("shm")
            .mayOnlyAccessLayers("memory", "wire", "api")
            .whereLayer("select")
            .mayOnlyAccessLayers("api", "rdma", "shm", "wire");

    @ArchTest
    static final ArchRule everyClassIsInARoom = classes()
            .should()
            .resideInAnyPackage(
                    ROOT + "api..",
                    ROOT + "wire..",
                    ROOT + "memory..",
                    ROOT + "verbs..",
                    ROOT + "rdma..",
                    ROOT + "shm..",
                    ROOT + "select..");

    @ArchTest
    static final ArchRule theSeamIsTheJdkAlone = classes()
            .that()
            .resideInAPackage(ROOT + "api..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("java..", ROOT + "api..");

    @ArchTest
    static final ArchRule noSpark =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("org.apache.spark..", "scala..");

    @ArchTest
    static final ArchRule disniIsInOneRoom = noClasses()
            .that()
            .resideOutsideOfPackage(ROOT + "verbs..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.ibm.disni..");

    @ArchTest
    static final ArchRule noCycles = slices().matching(ROOT + "(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule noMutableStatics =
            fields().that().areStatic().should().beFinal().allowEmptyShould(true);

    @ArchTest
    static final ArchRule everyPackageSaysWhatItIs = classes()
            .should(be(describe(
                    "in a package with a package-info",
                    type -> type.getPackage().tryGetPackageInfo().isPresent())));
}
